import { NamedPartsView } from '@sluice/core';
import type { Request } from 'express';

export class ExpressRequestView extends NamedPartsView<Request> {
  get path(): string {
    return this.request.baseUrl + this.request.path;
  }
}

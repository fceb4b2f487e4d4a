import { NamedPartsView, type Proxies, proxiesOf } from '@sluice/core';
import type { Request } from 'express';

export class ExpressRequestView extends NamedPartsView<Request> {
  get path(): string {
    return this.request.baseUrl + this.request.path;
  }

  get proxies(): Proxies {
    return proxiesOf(this.request.app.get('trust proxy'));
  }
}

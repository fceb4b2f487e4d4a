import { NamedPartsView } from '@sluice/core';
import type { Request } from 'express';

export class ExpressRequestView extends NamedPartsView<Request> {
  get path(): string {
    return this.request.baseUrl + this.request.path;
  }

  get proxies(): 'none' | 'some' | 'all' {
    const trust: unknown = this.request.app.get('trust proxy');
    if (trust === true) return 'all';
    return trust === false || trust === undefined ? 'none' : 'some';
  }
}

import { NamedPartsView, type Proxies, proxiesOf } from '@sluice/core';
import type { Request } from 'express';

export class ExpressRequestView extends NamedPartsView<Request> {
  get path(): string {
    return this.request.baseUrl + this.request.path;
  }

  /** Parsers put a body there in any case, if only `undefined`. */
  get bodyParsed(): boolean {
    return 'body' in this.request;
  }

  get proxies(): Proxies {
    return proxiesOf(this.request.app.get('trust proxy'));
  }
}

import { NamedPartsView, type Proxies, pathOf, proxiesOf, routeOf, writtenPathOf } from '@sluice/http';
import type { Request } from 'express';

export class ExpressRequestView extends NamedPartsView<Request> {
  get path(): string {
    const { baseUrl, path, app } = this.request;
    return pathOf(baseUrl + path, app.enabled('case sensitive routing'));
  }

  get writtenPath(): string | undefined {
    const { baseUrl, path, app } = this.request;
    return writtenPathOf(baseUrl + path, app.enabled('case sensitive routing'));
  }

  get route(): string | undefined {
    const { baseUrl, route, app } = this.request;
    return routeOf(pathOf(baseUrl, app.enabled('case sensitive routing')), route?.path);
  }

  /** A parser sets the property even without a body, then to `undefined`. */
  get bodyParsed(): boolean {
    return 'body' in this.request;
  }

  get proxies(): Proxies {
    return proxiesOf(this.request.app.get('trust proxy'));
  }
}

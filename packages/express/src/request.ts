import {
  type Advice,
  NamedPartsView,
  type Proxies,
  pathOf,
  proxiesOf,
  routeOf,
  writtenPathOf,
} from '@sluice/http';
import type { Request } from 'express';

const ADVICE: Advice = {
  body: 'Put a body parser in front of the limit, such as express.json()',
  route: 'Put the limit on the route itself: app.get(path, limit, …)',
};

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

  get advice(): Advice {
    return ADVICE;
  }
}

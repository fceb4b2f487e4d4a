import { type Advice, NamedPartsView, type Proxies, pathOf, routeOf, writtenPathOf } from '@sluice/http';
import type { AnyContext } from './options.js';

const ADVICE: Advice = {
  body: 'Put a body parser in front of the limit, such as koa-bodyparser',
  route: 'Put the limit on the route itself: router.get(path, limit, …)',
};

/** The view of a Koa context. Routers put `params` on it, authentication puts `user` on its state. */
export class KoaRequestView extends NamedPartsView<AnyContext> {
  /** Not the context's own getter, which is a call more. */
  override get ip(): string | undefined {
    return this.request.request.ip;
  }

  override get user(): unknown {
    return this.request.state.user;
  }

  get path(): string {
    return pathOf(this.#mountedAt + this.request.path, this.#caseSensitive);
  }

  get writtenPath(): string | undefined {
    return writtenPathOf(this.#mountedAt + this.request.path, this.#caseSensitive);
  }

  get route(): string | undefined {
    const { _matchedRoute } = this.request as { _matchedRoute?: unknown };
    return routeOf(pathOf(this.#mountedAt, this.#caseSensitive), _matchedRoute);
  }

  /** The prefixes of koa-mount, which removes them from the path. Only the original URL has them all. */
  get #mountedAt(): string {
    const { mountPath, originalUrl, path } = this.request as {
      mountPath?: string;
      originalUrl: string;
      path: string;
    };
    if (mountPath === undefined) return '';
    const whole = originalUrl.replace(/[?#].*$/s, '');
    if (whole.endsWith(path)) return whole.slice(0, whole.length - path.length);
    return `${whole}/`.endsWith(path) ? whole : mountPath;
  }

  /** The setting of the router that matched. Koa's routers ignore case by default. */
  get #caseSensitive(): boolean {
    const { router } = this.request as { router?: { opts?: { sensitive?: boolean } } };
    return router?.opts?.sensitive === true;
  }

  /** Of the request, where body parsers put it: `body` of a context is the response. */
  override get body(): unknown {
    return (this.request.request as { body?: unknown }).body;
  }

  /** Those of the header: `cookies` of a context is a reader and writer. */
  override get cookies(): undefined {
    return undefined;
  }

  /** Parsers such as @koa/bodyparser skip requests of these methods. */
  get bodyParsed(): boolean {
    const { request } = this.request;
    return 'body' in request || ['GET', 'HEAD', 'DELETE'].includes(request.method);
  }

  get proxies(): Proxies {
    const { proxy, maxIpsCount } = this.request.app;
    if (!proxy) return 'none';
    return maxIpsCount > 0 ? 'some' : 'all';
  }

  override get source(): object {
    return this.request.req;
  }

  get advice(): Advice {
    return ADVICE;
  }
}

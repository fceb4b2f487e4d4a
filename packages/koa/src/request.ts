import type { Proxies, RequestView } from '@sluice/core';
import { pathOf, routeOf } from '@sluice/core/http';
import type { AnyContext } from './options.js';

/** The view of a Koa context. Each part is read when it is needed. */
export class KoaRequestView implements RequestView {
  readonly #context: AnyContext;

  constructor(context: AnyContext) {
    this.#context = context;
  }

  get ip(): string {
    return this.#context.ip;
  }

  get user(): unknown {
    return (this.#context.state as { user?: unknown }).user;
  }

  get method(): string {
    return this.#context.method;
  }

  get path(): string {
    return pathOf(this.#mountedAt + this.#context.path, this.#caseSensitive);
  }

  get route(): string | undefined {
    const { _matchedRoute } = this.#context as { _matchedRoute?: unknown };
    return routeOf(pathOf(this.#mountedAt, this.#caseSensitive), _matchedRoute);
  }

  /** The prefixes of koa-mount, which removes them from the path. Only the original URL has them all. */
  get #mountedAt(): string {
    const { mountPath, originalUrl, path } = this.#context as {
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
    const { router } = this.#context as { router?: { opts?: { sensitive?: boolean } } };
    return router?.opts?.sensitive === true;
  }

  /** As routers put them on the context. */
  get params(): unknown {
    return (this.#context as { params?: unknown }).params;
  }

  get query(): unknown {
    return this.#context.query;
  }

  /** As body parsers put it on the request. */
  get body(): unknown {
    return (this.#context.request as { body?: unknown }).body;
  }

  get bodyParsed(): boolean {
    return 'body' in this.#context.request;
  }

  get headers(): unknown {
    return this.#context.headers;
  }

  get proxies(): Proxies {
    const { proxy, maxIpsCount } = this.#context.app;
    if (!proxy) return 'none';
    return maxIpsCount > 0 ? 'some' : 'all';
  }

  get source(): object {
    return this.#context.req;
  }
}

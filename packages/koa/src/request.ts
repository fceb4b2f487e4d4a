import type { Proxies, RequestView } from '@sluice/core';
import type { AnyContext } from './options.js';

/** A Koa context as limiting sees it: each part is read when it is asked for. */
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
    return this.#context.path;
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

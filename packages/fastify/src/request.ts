import type { RequestView } from '@sluice/core';
import type { FastifyRequest } from 'fastify';

/** A Fastify request as limiting sees it: each part is read when it is asked for. */
export class FastifyRequestView implements RequestView {
  readonly #request: FastifyRequest;

  constructor(request: FastifyRequest) {
    this.#request = request;
  }

  get ip(): string {
    return this.#request.ip;
  }

  get user(): unknown {
    return (this.#request as { user?: unknown }).user;
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    const { url } = this.#request;
    const query = url.indexOf('?');
    return query < 0 ? url : url.slice(0, query);
  }

  get params(): unknown {
    return this.#request.params;
  }

  get query(): unknown {
    return this.#request.query;
  }

  get body(): unknown {
    return this.#request.body;
  }

  get headers(): unknown {
    return this.#request.headers;
  }
}

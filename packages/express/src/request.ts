import type { RequestView } from '@sluice/core';
import type { Request } from 'express';

/** An Express request as limiting sees it: each part is read when it is asked for. */
export class ExpressRequestView implements RequestView {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  get ip(): string | undefined {
    return this.#request.ip;
  }

  get user(): unknown {
    return (this.#request as { user?: unknown }).user;
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    return this.#request.baseUrl + this.#request.path;
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

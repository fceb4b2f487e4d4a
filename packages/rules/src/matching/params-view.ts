import type { RequestView } from '@sluice/http';
import type { Params } from './path-pattern.js';

/** The request with the params of a path pattern over the framework's. */
export const withParams = (view: RequestView, params: Params): RequestView =>
  Object.keys(params).length === 0 ? view : new ParamsView(view, params);

class ParamsView implements RequestView {
  constructor(
    private readonly view: RequestView,
    private readonly found: Params,
  ) {}

  get params(): unknown {
    return { ...Object(this.view.params), ...this.found };
  }
  get ip() {
    return this.view.ip;
  }
  get user() {
    return this.view.user;
  }
  get method() {
    return this.view.method;
  }
  get path() {
    return this.view.path;
  }
  get route() {
    return this.view.route;
  }
  get query() {
    return this.view.query;
  }
  get body() {
    return this.view.body;
  }
  get bodyParsed() {
    return this.view.bodyParsed;
  }
  get headers() {
    return this.view.headers;
  }
  get cookies() {
    return this.view.cookies;
  }
  get proxies() {
    return this.view.proxies;
  }
}

/** Which `X-Forwarded-For` a framework trusts: none, that of some proxies, or any. */
export type Proxies = 'none' | 'some' | 'all';

/** @internal The meaning of Express's setting `trust proxy`. */
export function proxiesOf(trust: unknown): Proxies {
  if (trust === true) return 'all';
  return trust === false || trust === undefined ? 'none' : 'some';
}

/**
 * What limits need of a request, in any framework. In adapters these are getters that read the framework's request, so a body or a user
 * that is set later is found.
 */
export interface RequestView {
  /** The client's address as the framework reports it, with its trusted proxies. */
  readonly ip: string | undefined;
  /** The logged-in user, as the authentication put it on the request; `undefined` without one. */
  readonly user: unknown;
  readonly method: string;
  /** Normalized by `pathOf`: the full path with router prefixes, without the query. */
  readonly path: string;
  /** The route pattern with router prefixes, such as `/users/:id`; undefined while no route is known. */
  readonly route?: string | undefined;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  /** Did a body parser run, even without a result? Undefined if unknown. */
  readonly bodyParsed?: boolean | undefined;
  readonly headers: unknown;
  /** Undefined if the framework does not say. */
  readonly proxies?: Proxies | undefined;
  /** The framework's own request: the same for every view of it. */
  readonly source?: object;
}

/** The parts of a view: the first names in key expressions such as `#{query.phone}`. */
export const REQUEST_FIELDS = [
  'ip',
  'user',
  'method',
  'path',
  'route',
  'params',
  'query',
  'body',
  'headers',
] as const;

/** A request whose parts have the names of a view's parts, as in Express and Fastify. */
export interface NamedParts {
  readonly ip?: string | undefined;
  readonly method: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly body?: unknown;
  readonly headers: unknown;
}

/** The view of such a request. Only the path and the route are read differently in each framework. */
export abstract class NamedPartsView<R extends NamedParts> implements RequestView {
  // `declare`: a field definition would cost a call for each request.
  declare protected readonly request: R;

  constructor(request: R) {
    this.request = request;
  }

  abstract get path(): string;

  abstract get route(): string | undefined;

  get source(): R {
    return this.request;
  }

  get ip(): string | undefined {
    return this.request.ip;
  }

  get user(): unknown {
    return (this.request as { user?: unknown }).user;
  }

  get method(): string {
    return this.request.method;
  }

  get params(): unknown {
    return this.request.params;
  }

  get query(): unknown {
    return this.request.query;
  }

  get body(): unknown {
    return this.request.body;
  }

  get headers(): unknown {
    return this.request.headers;
  }
}

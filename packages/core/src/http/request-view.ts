/** Whose word for the client's address a framework takes: nobody's, some proxies', or anybody's. */
export type Proxies = 'none' | 'some' | 'all';

/** @internal What Express's setting `trust proxy` says. */
export function proxiesOf(trust: unknown): Proxies {
  if (trust === true) return 'all';
  return trust === false || trust === undefined ? 'none' : 'some';
}

/**
 * What limiting needs to see of a request, whatever the framework. Adapters make it of getters that read the framework's own
 * request when asked, so that a body or a user that comes later is seen.
 */
export interface RequestView {
  /** The client's address as the framework, with its trusted proxies, tells it. */
  readonly ip: string | undefined;
  /** Who is logged in, as put on the request by whatever logs people in; `undefined` for nobody. */
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
  /** Undefined if it cannot be told. */
  readonly proxies?: Proxies | undefined;
  /** The framework's own request: the same for every view of it. */
  readonly source?: object;
}

/** The names of a view's parts: first names that a key expression such as `#{query.phone}` may begin with. */
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

/** A request whose parts have the very names that a view gives them, as those of Express and Fastify have. */
export interface NamedParts {
  readonly ip?: string | undefined;
  readonly method: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly body?: unknown;
  readonly headers: unknown;
}

/** The view of such a request. Only where its path is, each framework says itself. */
export abstract class NamedPartsView<R extends NamedParts> implements RequestView {
  constructor(protected readonly request: R) {}

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

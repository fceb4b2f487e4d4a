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
  /** Without the query. */
  readonly path: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: unknown;
}

/** The names of a view's parts: first names that a key expression such as `#{query.phone}` may begin with. */
export const REQUEST_FIELDS = ['ip', 'user', 'method', 'path', 'params', 'query', 'body', 'headers'] as const;

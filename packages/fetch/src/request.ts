import { type Advice, pathOf, queryOf, type RequestView } from '@sluice/http';

/** What a web-standard request does not contain. */
export interface RequestInfo {
  /** The client's address from the runtime or from a proxy that you trust; never an unchecked `X-Forwarded-For`. */
  readonly ip?: string | undefined;
  readonly user?: unknown;
  /** Of the route, for `#{params.id}`. */
  readonly params?: unknown;
  /** The pattern of the route, for `#{route}`: `/users/:id`. */
  readonly route?: string | undefined;
  /** The parsed body, for `#{body.phone}`: a body can be read only once, so pass it here. */
  readonly body?: unknown;
}

const ADVICE: Advice = { body: 'Pass the body in info', route: 'Pass the route in info' };

export function viewOf(request: Request, info: RequestInfo): RequestView {
  const { ip, user, params, route, body } = info;
  const url = new URL(request.url);
  return {
    ip,
    user,
    method: request.method,
    path: pathOf(url.pathname),
    route,
    params,
    body,
    bodyParsed: 'body' in info,
    source: request,
    advice: ADVICE,
    get headers() {
      return Object.fromEntries(request.headers);
    },
    get query() {
      return queryOf(url.searchParams);
    },
  };
}

import type { Scope } from '../reading/reading.js';

/** Where a call belongs: the keys under which it can be paused. */
export interface CallScopes {
  /** The account, as `accountKey` returns it. */
  readonly account: string;
  /** The method and the route. */
  readonly route: string;
  /** The budgets that it draws on. */
  readonly dimensions: readonly string[];
}

/** The key of all calls to the service. */
export const UPSTREAM = 'upstream';
/** In the name of an account they would end it. */
const SEPARATORS = /[%:]/g;

/** The key of an account in pauses and budgets; it also names calls without credentials. */
export const accountKey = (account: string): string =>
  `account:${String(account).replace(SEPARATORS, encodeURIComponent)}`;

/** The key of a pause; undefined for the scope `request`, which pauses nothing. */
export function pauseKey(scope: Scope, call: CallScopes, dimension = 'requests'): string | undefined {
  switch (scope) {
    case 'request':
      return undefined;
    case 'endpoint':
      return `${call.account}:${call.route}`;
    case 'dimension':
      return `${call.account}:${dimension}`;
    case 'account':
      return call.account;
    case 'upstream':
      return UPSTREAM;
  }
}

/** All pauses that concern a call, the widest first: ramps are entered in this order, so that no two calls wait for each other. */
export function pauseKeys({ account, dimensions, route }: CallScopes): readonly string[] {
  return [
    UPSTREAM,
    account,
    ...dimensions.map((dimension) => `${account}:${dimension}`),
    `${account}:${route}`,
  ];
}

/** What a key pauses. */
export function scopeOfKey(key: string): Exclude<Scope, 'request'> {
  if (key === UPSTREAM) return 'upstream';
  const rest = key.slice('account:'.length);
  const at = rest.indexOf(':');
  if (at < 0) return 'account';
  return rest.slice(at + 1).includes(' ') ? 'endpoint' : 'dimension';
}

const NUMBER = /^\d+$/;
const HASH = /^[0-9a-f]{8}-[0-9a-f-]{27}$|^[0-9a-f]{16,}$/i;
/** Without `.` and `:`, which names have: `gemini-1.5-pro:generateContent`. */
const MIXED = /^(?=.*\d)[^.:]{12,}$/;
/** Characters; no name of a route is longer, but tokens are. */
const LONGEST_NAME = 40;

const isId = (part: string): boolean =>
  part.length > LONGEST_NAME || NUMBER.test(part) || HASH.test(part) || MIXED.test(part);

/** The path with a `*` in place of each part that looks like an id: calls of one route share its pauses. */
export const routeOf = (pathname: string): string =>
  pathname
    .split('/')
    .map((part) => (isId(part) ? '*' : part))
    .join('/');

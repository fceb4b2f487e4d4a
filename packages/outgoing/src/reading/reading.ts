/**
 * How far a refusal reaches:
 * - `request`: this call only;
 * - `endpoint`: this account's calls of one method and route;
 * - `dimension`: this account's calls that draw on one budget, such as `tokens`;
 * - `account`: all calls with these credentials;
 * - `upstream`: all calls of all accounts.
 */
export type Scope = 'request' | 'endpoint' | 'dimension' | 'account' | 'upstream';

/** `limit`: too many calls. `quota`: a budget is used up, and no retry helps. `overload`: the upstream cannot serve any caller now. */
export type RefusalKind = 'limit' | 'quota' | 'overload';

/** What a response says of one budget. Fields that it does not state are missing. */
export interface ObservedLimit {
  /** The counted thing: `requests`, `tokens`, a resource of GitHub such as `core`. */
  readonly dimension: string;
  /** The name of the policy, if the response names it. */
  readonly policy?: string;
  /** The size of the budget. */
  readonly limit?: number;
  /** The rest of it. */
  readonly remaining?: number;
  /** ms since 1970, by this process's clock: when it is renewed. */
  readonly resetAt?: number;
  /** At `resetAt` the budget is full, has room for the next call, or begins a new window. */
  readonly resetMeans?: 'full' | 'next' | 'window';
  /** The length of its window, ms. */
  readonly window?: number;
  /** `remaining` is rounded: it may be wrong by that much. */
  readonly rounding?: number;
}

/** Why the upstream did not serve a call. */
export interface Refusal {
  readonly kind: RefusalKind;
  readonly scope: Scope;
  /** Of the scope `dimension`: which. */
  readonly dimension?: string;
  /** ms since 1970, by this process's clock: no call passes before. Missing: the response states no time. */
  readonly until?: number;
  /** Without `until`: the shortest pause that the upstream's documentation demands, ms. It doubles with each refusal in a row. */
  readonly least?: number;
  /** The upstream's word, or the status: `secondary rate limit`, `HTTP 429`. */
  readonly reason: string;
  /** The upstream says whether to retry this call. Missing: by its status. */
  readonly retry?: boolean;
}

/** What a response says about limits. */
export interface RateLimitReading {
  readonly observed: readonly ObservedLimit[];
  /** Missing: the call was served, or failed for another reason. */
  readonly refusal?: Refusal;
}

/** A response as readers see it. */
export interface ResponseView {
  readonly status: number;
  /** Its body, if it was read and is short; otherwise ''. */
  readonly body: string;
  /** ms since 1970. */
  readonly receivedAt: number;
  /** A header by its lower-case name; undefined if it is absent, empty or longer than any sensible value. */
  header(name: string): string | undefined;
  /** A moment of the upstream's clock, ms since 1970, by this process's clock: never earlier than `receivedAt`. */
  moment(upstream: number): number;
}

/** Reads what one provider says. Returns undefined if the response says nothing in its words. */
export type RateLimitReader = (response: ResponseView) => RateLimitReading | undefined;

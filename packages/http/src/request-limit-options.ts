import type {
  CombinedKeys,
  CombinedLimiter,
  Cost,
  Decision,
  Duration,
  LimiterBaseOptions,
  LimiterKey,
  LimitType,
  Policy,
  RateLimiter,
} from '@sluice/core';
import {
  checkBoolean,
  checkFunction,
  checkOptions,
  LIMITER_BASE_OPTIONS,
  type MaybePromise,
} from '@sluice/core/internal';
import { pick } from './option-functions.js';
import type { UserOf } from './request-key.js';
import type { RequestRules } from './request-rules.js';

/** The key of a limiter, or a key for each limiter of a `CombinedLimiter`. */
export type Keys = LimiterKey | CombinedKeys<string>;

/** A function that returns a value for a request. */
export type OfRequest<Args extends readonly unknown[], T> = (...args: Args) => MaybePromise<T>;

/** The arguments of functions in options: the framework's own, then the request's key. */
export type WithKey<Args extends readonly unknown[]> = number extends Args['length']
  ? Args
  : [...Args, key: string];

/** Several policies by name. */
export type Policies = Readonly<Record<string, Policy>>;

/** What requests are counted by. */
export interface KeyOptions<Args extends readonly unknown[]> {
  /**
   * What requests are counted by; default `'IP'`, or `'CUSTOM'` with a `key`. `'METHOD'` is one count for all requests of this
   * limit.
   */
  readonly limitType?: LimitType | undefined;
  /**
   * A key expression over the request, such as `#{body.phone}` or `#{user.tenant}:#{params.id}`. Or a list such as `['USER', 'IP']`: the first
   * one counts that the request has. Keys of a list begin with their kind, `user:` or `ip:`, so none of them meet.
   */
  readonly key?: string | readonly string[] | undefined;
  /** Returns the key; for a `CombinedLimiter` a key for each of its limiters. Mask addresses with `clientIp`. */
  readonly keyGenerator?: OfRequest<Args, Keys> | undefined;
  /** Returns the user of a request, for `'USER'`, also in a list; default `user.id`, or `user` if that is a plain value. */
  readonly user?: UserOf | undefined;
  /** IPv6 prefix length that counts as one client, for `'IP'` and `#{ip}`: from 32 to 128, or a function; default 64. */
  readonly ipv6Subnet?: number | OfRequest<Args, number> | undefined;
}

/** One of several `limits`: its policies and its own key. */
export interface OneOfLimits<Args extends readonly unknown[]> extends KeyOptions<Args> {
  readonly policy?: Policy | undefined;
  /** Several policies by name, which share this limit's key. */
  readonly policies?: Policies | undefined;
  /** In place of the option `escalate` of all limits. */
  readonly escalate?: LimiterBaseOptions['escalate'];
}

/** The drafts of `RateLimit` headers: see `standardHeaders`. */
export type HeaderStyle = 'draft-11' | 'draft-8' | 'draft-7' | 'draft-6';

/**
 * The options of every adapter's `rateLimit`. `Args` are the arguments that the framework passes to functions: `[req, res]`, `[ctx]`.
 *
 * Pass one of `limiter`, `rules`, `policy`, `policies` and `limits`; with the last three also options of a `LimiterBaseOptions`: `name`, `store`, …
 */
export interface RequestLimitOptions<Args extends readonly unknown[]>
  extends LimiterBaseOptions,
    KeyOptions<Args> {
  /** Your own limiter, which you close. Routes with the same limiter share its counts. */
  readonly limiter?: RateLimiter | CombinedLimiter | undefined;
  /**
   * The algorithm and its numbers; see `RateLimiter`. A function returns it for each request and gets the request's key as its last
   * argument, for example to give paying users a higher limit. All policies share one count: a key keeps what it used when its
   * numbers change, as long as the algorithm stays.
   */
  readonly policy?: Policy | OfRequest<WithKey<Args>, Policy> | undefined;
  /** Several policies by name, decided all or nothing; also as a function. */
  readonly policies?: Policies | OfRequest<WithKey<Args>, Policies> | undefined;
  /**
   * Several limits by name, each with its own key, decided all or nothing: per address and per account. In a Redis
   * Cluster they need a `hashTag`.
   */
  readonly limits?: Readonly<Record<string, OneOfLimits<Args>>> | undefined;
  /**
   * Rules of `@sluice/rules`, which say what each request counts for: `await loadRules('limits.yaml', { store })`. All rules that match a
   * request are decided together. A request that no rule matches passes uncounted. You close the rules.
   */
  readonly rules?: RequestRules | undefined;

  // Which requests are counted.

  /** Permits that a request takes: a whole number ≥ 0, a number for each policy by name, or a function; default 1. */
  readonly cost?: Cost | OfRequest<Args, Cost> | undefined;
  /** Returns true for requests that are not counted. */
  readonly skip?: OfRequest<Args, boolean> | undefined;
  /** Requests that are not counted: addresses, ranges (`10.0.0.0/8`) and keys, or a function. It gets the key last, `''` without one. */
  readonly allowList?: readonly string[] | OfRequest<WithKey<Args>, boolean> | undefined;
  /**
   * Requests that get a 403: addresses, ranges and keys, or a function. Checked before `allowList`. `onLimited`, `message` and `handler` are not
   * called for them.
   */
  readonly denyList?: readonly string[] | OfRequest<WithKey<Args>, boolean> | undefined;
  /** Refund the permits of a request that succeeded, so that only failures count; default false. */
  readonly skipSuccessfulRequests?: boolean | undefined;
  /**
   * Refund the permits of a request that failed, or whose client disconnected before the end of the response; default false. A client can
   * then avoid being counted by disconnecting: if your server does the work anyway, return true in `requestWasSuccessful`.
   */
  readonly skipFailedRequests?: boolean | undefined;
  /** Has a request succeeded? Called when its response is over. Default: the response is complete, with a status below 400. */
  readonly requestWasSuccessful?: OfRequest<Args, boolean> | undefined;

  // What happens to a request over its limit.

  /** The longest wait for a permit. Default: no wait, a request over its limit is denied at once. */
  readonly timeout?: Duration | undefined;
  /** Called for every request that is denied, or would be without `dryRun`. An error that it throws fails the request. */
  readonly onLimited?: ((...args: [...Args, decision: Decision]) => unknown) | undefined;
  /** Count requests and call `onLimited`, but let every request pass and set no headers; default false. */
  readonly dryRun?: boolean | undefined;
  /** The status of a denial, 400 to 599; default 429. */
  readonly statusCode?: number | undefined;
  /** The body of a denial: text, an object that becomes JSON, or a function; default, also for `undefined`, a problem (RFC 9457). */
  readonly message?:
    | string
    | object
    | OfRequest<[...Args, decision: Decision], string | object | undefined>
    | undefined;
  /**
   * Throw a denial to the framework's error handling instead of answering it: a `RateLimitExceededError` with `status`, `statusCode`
   * and `headers`, or a `RequestForbiddenError` for the `denyList`; default false.
   */
  readonly throw?: boolean | undefined;

  // Which headers a response gets.

  /**
   * The form of `RateLimit` and `RateLimit-Policy`: `'draft-11'` (default) of the IETF draft, `'draft-8'` (the same form),
   * `'draft-7'`, `'draft-6'` or `true` (as in express-rate-limit, draft 6); `false` for none.
   */
  readonly standardHeaders?: HeaderStyle | boolean | undefined;
  /** Adds `X-RateLimit-Limit`, `-Remaining` and `-Reset` (Unix seconds); default false. */
  readonly legacyHeaders?: boolean | undefined;
  /** Adds `pk` of drafts 11 and 8, an opaque hash of the key by which a client tells its own limits apart; default false. */
  readonly partitionKey?: boolean | undefined;
  /**
   * Adds to `Retry-After` a random part of the wait, up to this share of it: 0.2 for up to 20 %, at most 1. Clients that were denied together
   * then come back at different moments, and never too early. Default 0.
   */
  readonly retryAfterJitter?: number | undefined;

  /** Warn, once each, about settings that limit the wrong client or nobody. Default true. */
  readonly validate?: boolean | undefined;
}

export const withKey = <Args extends readonly unknown[]>(args: Args, key: string): WithKey<Args> =>
  [...args, key] as unknown as WithKey<Args>;

/** The options of which one is required, unless there is a `limiter` or `rules`. */
export const CHOICE_OPTIONS = ['policy', 'policies', 'limits'] as const;
export const LIMITER_OPTIONS = [...CHOICE_OPTIONS, ...LIMITER_BASE_OPTIONS] as const;
export const KEY_OPTIONS = ['limitType', 'key', 'keyGenerator', 'user', 'ipv6Subnet'] as const;

const BOOLEAN_OPTIONS = [
  ...(['skipSuccessfulRequests', 'skipFailedRequests', 'dryRun', 'throw'] as const),
  ...(['legacyHeaders', 'partitionKey', 'validate'] as const),
];
const FUNCTION_OPTIONS = ['skip', 'requestWasSuccessful', 'onLimited'] as const;

/** The names of all options. */
export const REQUEST_LIMIT_OPTIONS = [
  'limiter',
  'rules',
  ...LIMITER_OPTIONS,
  ...KEY_OPTIONS,
  ...BOOLEAN_OPTIONS,
  ...FUNCTION_OPTIONS,
  ...(['cost', 'allowList', 'denyList', 'timeout', 'statusCode', 'message'] as const),
  ...(['standardHeaders', 'retryAfterJitter'] as const),
] satisfies readonly (keyof RequestLimitOptions<[]>)[];

/**
 * A copy of the options that are set, own or inherited.
 * @throws TypeError naming an unknown option, or one that must be a boolean or a function and is not
 */
export function checkRequestLimitOptions<Args extends readonly unknown[]>(
  where: string,
  given: RequestLimitOptions<Args>,
): RequestLimitOptions<Args> {
  checkOptions(where, given, REQUEST_LIMIT_OPTIONS);
  for (const name of BOOLEAN_OPTIONS) checkBoolean(`${where}: ${name}`, given[name]);
  for (const name of FUNCTION_OPTIONS) checkFunction(`${where}: ${name}`, given[name]);
  return pick(given, REQUEST_LIMIT_OPTIONS);
}

import type { Policy } from '../algorithms/algorithm.js';
import type { Duration } from '../duration.js';
import type { LimiterKey } from '../keys/key-part.js';
import type { LimitType } from '../keys/limit-type.js';
import type { Cost } from '../limiter/call-options.js';
import type { CombinedKeys, CombinedLimiter } from '../limiter/combined-limiter.js';
import type { Decision } from '../limiter/decision.js';
import { type LimiterPlace, PLACE_OPTIONS } from '../limiter/limiter-options.js';
import type { RateLimiter } from '../limiter/rate-limiter.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { HeaderOptions } from './headers/header-style.js';
import type { UserOf } from './request-key.js';

/** Something that a function may say anew for each request. */
export type OfRequest<Args extends readonly unknown[], T> = (...args: Args) => MaybePromise<T>;

/** The arguments of functions in options: the framework's own, then the request's key. */
export type WithKey<Args extends readonly unknown[]> = number extends Args['length']
  ? Args
  : [...Args, key: string];

/** Several policies by their names. */
export type Policies = Readonly<Record<string, Policy>>;

/** By what requests are told apart. */
export interface KeyOptions<Args extends readonly unknown[]> {
  /**
   * By what requests are told apart; default `'IP'`, or `'CUSTOM'` with a `key`. `'METHOD'` is one count for all who come
   * by here.
   */
  readonly limitType?: LimitType | undefined;
  /** A key expression over the request, such as `#{body.phone}` or `#{user.tenant}:#{params.id}`. */
  readonly key?: string | undefined;
  /** Gives the key in code; of a `CombinedLimiter` a key for each of its limiters. Mask addresses with `clientIp`. */
  readonly keyGenerator?: OfRequest<Args, LimiterKey | CombinedKeys<string>> | undefined;
  /** Who makes a request, for `'USER'`; default `user.id`, or `user` when that is a plain value. */
  readonly user?: UserOf | undefined;
  /** IPv6 prefix length that counts as one client, for `'IP'` and `#{ip}`: from 32 to 128, or a function; default 64. */
  readonly ipv6Subnet?: number | OfRequest<Args, number> | undefined;
}

/** One of several `limits`: its numbers, and a key of its own. */
export interface OneOfLimits<Args extends readonly unknown[]> extends KeyOptions<Args> {
  readonly policy?: Policy | undefined;
  /** Several policies by their names, which share this limit's key. */
  readonly policies?: Policies | undefined;
}

/** Which limit a request is held to: give one of these. */
export interface LimitChoice<Args extends readonly unknown[]> {
  /** A limiter of yours, which stays yours to close. Routes that are given the same one share its counts. */
  readonly limiter?: RateLimiter | CombinedLimiter | undefined;
  /**
   * The algorithm and its numbers; see `RateLimiter`. A function returns it for each request and gets the request's key as its last
   * argument, for example to give paying users a higher limit. All policies share one count: a key keeps what it used when its
   * numbers change, as long as the algorithm stays.
   */
  readonly policy?: Policy | OfRequest<WithKey<Args>, Policy> | undefined;
  /** Several policies by their names, decided all or nothing; also as a function. */
  readonly policies?: Policies | OfRequest<WithKey<Args>, Policies> | undefined;
  /**
   * Several limits by their names, each with a key of its own, decided all or nothing: per address and per account. In a Redis
   * Cluster they need a `hashTag`.
   */
  readonly limits?: Readonly<Record<string, OneOfLimits<Args>>> | undefined;
}

/** What is counted, and what is not. */
export interface CountingOptions<Args extends readonly unknown[]> {
  /** Permits that a request takes: a whole number ≥ 0, a number for each policy by its name, or a function; default 1. */
  readonly cost?: Cost | OfRequest<Args, Cost> | undefined;
  /** Requests for which this is true are not counted. */
  readonly skip?: OfRequest<Args, boolean> | undefined;
  /** Requests that are not counted: addresses, ranges (`10.0.0.0/8`) and keys, or a function. It gets the key last, `''` without one. */
  readonly allowList?: readonly string[] | OfRequest<WithKey<Args>, boolean> | undefined;
  /** Who is answered with 403, given in the same way. Goes before `allowList`. No business of `onLimited`, `message` and `handler`. */
  readonly denyList?: readonly string[] | OfRequest<WithKey<Args>, boolean> | undefined;
  /** Give the permits back when a request has succeeded, so that only failures count; default false. */
  readonly skipSuccessfulRequests?: boolean | undefined;
  /**
   * Give the permits back when a request has failed, or its client has left before all of the answer; default false. Who hangs up in time is not
   * counted then: where the work is done all the same, say so in `requestWasSuccessful`.
   */
  readonly skipFailedRequests?: boolean | undefined;
  /** Has a request succeeded? Asked when its response is over; default: it is complete, with a status below 400. */
  readonly requestWasSuccessful?: OfRequest<Args, boolean> | undefined;
}

/** What happens to a request that is over its limit. */
export interface DenialOptions<Args extends readonly unknown[]> {
  /** Wait for a permit, up to so long, rather than be denied at once. Default: no waiting. */
  readonly timeout?: Duration | undefined;
  /** Is told of every request that is denied, or would be but for `dryRun`. What it throws fails the request. */
  readonly onLimited?: ((...args: [...Args, decision: Decision]) => unknown) | undefined;
  /** Count and tell `onLimited`, but let everything through and set no headers; default false. */
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
   * Hand a denial to the framework's own error handling, as a `RateLimitExceededError` with `status`, `statusCode` and `headers`
   * (`RequestForbiddenError` for the `denyList`), rather than answer it here; default false.
   */
  readonly throw?: boolean | undefined;
}

/**
 * What every adapter's `rateLimit` takes. `Args` is what the framework hands to functions: `[req, res]`, `[ctx]`.
 *
 * One of `limiter`, `policy`, `policies` and `limits`; with all but the first, if need be, what a `LimiterPlace` has: `name`, `store`, …
 */
export interface RequestLimitOptions<Args extends readonly unknown[]>
  extends LimiterPlace,
    LimitChoice<Args>,
    KeyOptions<Args>,
    CountingOptions<Args>,
    DenialOptions<Args>,
    HeaderOptions {
  /** Warn, once each, of settings that limit the wrong client or nobody; see docs/warnings.md. Default true. */
  readonly validate?: boolean | undefined;
}

export const withKey = <Args extends readonly unknown[]>(args: Args, key: string): WithKey<Args> =>
  [...args, key] as unknown as WithKey<Args>;

/** One of these, or a limiter. */
export const CHOICE_OPTIONS = ['policy', 'policies', 'limits'] as const;
export const LIMITER_OPTIONS = [...CHOICE_OPTIONS, ...PLACE_OPTIONS] as const;
export const KEY_OPTIONS = ['limitType', 'key', 'keyGenerator', 'user', 'ipv6Subnet'] as const;

/** The names of all options: those of other spellings are refused. */
export const REQUEST_LIMIT_OPTIONS = [
  'limiter',
  ...LIMITER_OPTIONS,
  ...KEY_OPTIONS,
  'cost',
  'skip',
  'allowList',
  'denyList',
  'skipSuccessfulRequests',
  'skipFailedRequests',
  'requestWasSuccessful',
  'timeout',
  'onLimited',
  'dryRun',
  'statusCode',
  'message',
  'throw',
  'standardHeaders',
  'legacyHeaders',
  'partitionKey',
  'validate',
] as const satisfies readonly (keyof RequestLimitOptions<[]>)[];

import type { Cost } from '../admission/call-options.js';
import type { Policy } from '../algorithms/algorithm.js';
import type { LimitType } from '../keys/limit-type.js';
import type { LimiterKey, RateLimiter } from '../limiter.js';
import type { LimiterPlace } from '../limiter-options.js';
import type { UserOf } from './request-key.js';

/** Something that a function may say anew for each request. */
export type OfRequest<Args extends readonly unknown[], T> = (...args: Args) => T | Promise<T>;

/** Several policies by their names. */
export type Policies = Readonly<Record<string, Policy>>;

/**
 * What every adapter's `rateLimit` takes. `Args` is what the framework hands to functions: `[req, res]`, `[ctx]`.
 *
 * Either a `limiter`, or what makes one: a `policy` or `policies`, and if need be `name`, `store`, `keyPrefix`, `hashTag` and
 * `deadline`.
 */
export interface RequestLimitOptions<Args extends readonly unknown[]> extends LimiterPlace {
  /** A limiter of yours, which stays yours to close. */
  readonly limiter?: RateLimiter;
  /**
   * How to decide; see `RateLimiter`. A function gives it for each request: paying users have other numbers. They all count in
   * one place, so whose numbers change keeps what was used, as long as the algorithm stays.
   */
  readonly policy?: Policy | OfRequest<Args, Policy>;
  /** Several policies by their names, decided all or nothing; also as a function. */
  readonly policies?: Policies | OfRequest<Args, Policies>;
  /**
   * By what requests are told apart; default `'IP'`, or `'CUSTOM'` with a `key`. `'METHOD'` is one count for all who come
   * by here.
   */
  readonly limitType?: LimitType;
  /** A key expression over the request, such as `#{body.phone}` or `#{user.tenant}:#{params.id}`. */
  readonly key?: string;
  /** Gives the key in code. Mask addresses with `clientIp`. */
  readonly keyGenerator?: OfRequest<Args, LimiterKey>;
  /** Permits that a request takes: a whole number ≥ 0, a number for each policy by its name, or a function; default 1. */
  readonly cost?: Cost | OfRequest<Args, Cost>;
  /** Requests for which this is true are not counted. */
  readonly skip?: OfRequest<Args, boolean>;
  /** Who makes a request, for `'USER'`; default `user.id`, or `user` when that is a plain value. */
  readonly user?: UserOf;
  /** Leading bits of an IPv6 address that make one client, from 32 to 128, for `'IP'` and `#{ip}`; default 64. */
  readonly ipv6Subnet?: number;
}

export const PLACE_OPTIONS = ['name', 'store', 'keyPrefix', 'hashTag', 'deadline'] as const;
export const LIMITER_OPTIONS = ['policy', 'policies', ...PLACE_OPTIONS] as const;
export const REQUEST_LIMIT_OPTIONS = [
  'limiter',
  ...LIMITER_OPTIONS,
  ...['limitType', 'key', 'keyGenerator', 'user', 'ipv6Subnet', 'cost', 'skip'],
] as const;

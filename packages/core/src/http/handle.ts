import type { Policy } from '../algorithms/algorithm.js';
import type { Decision } from '../decision.js';
import { LimitType, parseLimitType } from '../keys/limit-type.js';
import { type LimiterKey, RateLimiter, type RateLimiterOptions } from '../limiter.js';
import { checkInteger, checkOptions, describe } from '../options.js';
import { compileRequestKey, type UserOf } from './request-key.js';
import type { RequestView } from './request-view.js';

/**
 * What every adapter's `rateLimit` takes. `Args` is what the framework hands to functions: `[req, res]`, `[ctx]`.
 *
 * Either a `limiter`, or what makes one: a `policy`, and if need be `name`, `store`, `keyPrefix` and `deadline`.
 */
export interface RequestLimitOptions<Args extends readonly unknown[]>
  extends Partial<Omit<RateLimiterOptions, 'policy'>> {
  /** A limiter of yours, which stays yours to close. */
  readonly limiter?: RateLimiter;
  /** How to decide; see `RateLimiter`. */
  readonly policy?: Policy;
  /**
   * By what requests are told apart; default `'IP'`, or `'CUSTOM'` with a `key`. `'METHOD'` is one count for all who come
   * by here.
   */
  readonly limitType?: LimitType;
  /** A key expression over the request, such as `#{body.phone}` or `#{user.tenant}:#{params.id}`. */
  readonly key?: string;
  /** Gives the key in code. Mask addresses with `clientIp`. */
  readonly keyGenerator?: (...args: Args) => LimiterKey | Promise<LimiterKey>;
  /** Permits that a request takes: a whole number ≥ 0, or a function; default 1. */
  readonly cost?: number | ((...args: Args) => number | Promise<number>);
  /** Requests for which this is true are not counted. */
  readonly skip?: (...args: Args) => boolean | Promise<boolean>;
  /** Who makes a request, for `'USER'`; default `user.id`, or `user` when that is a plain value. */
  readonly user?: UserOf;
  /** Leading bits of an IPv6 address that make one client, from 32 to 128; default 64. */
  readonly ipv6Subnet?: number;
}

/** What an adapter calls for each request. */
export interface RequestLimit<Args extends readonly unknown[]> {
  readonly limiter: RateLimiter;
  /** The decision, or undefined for a request that is skipped. Rejects as `RateLimiter.consume` does. */
  decide(request: RequestView, ...args: Args): Promise<Decision | undefined>;
  /** Closes the limiter, if it is not yours. */
  close(): Promise<void>;
}

const LIMITER_OPTIONS = ['name', 'policy', 'store', 'keyPrefix', 'deadline'] as const;
const KEY_OPTIONS = ['limitType', 'key', 'keyGenerator', 'user', 'ipv6Subnet'] as const;
const OPTIONS = ['limiter', ...LIMITER_OPTIONS, ...KEY_OPTIONS, 'cost', 'skip'];

/**
 * What all adapters share: from a request to a decision.
 * @throws RangeError, TypeError naming the option that is wrong
 */
export function limitRequests<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
): RequestLimit<Args> {
  checkOptions(where, options, OPTIONS);
  const limiter = limiterOf(where, options);
  const keyOf = keyOfRequest(where, options);
  const { cost = 1, skip } = options;
  if (typeof cost !== 'function') checkInteger(`${where}: cost`, cost, 0);
  checkFunction(where, 'skip', skip);
  return {
    limiter,
    decide: onlyErrors(where, async (request, ...args) => {
      if (skip !== undefined && (await skip(...args))) return undefined;
      const key = await keyOf(request, args);
      return limiter.consume(key, { cost: typeof cost === 'function' ? await cost(...args) : cost });
    }),
    close: async () => {
      if (options.limiter === undefined) await limiter.close();
    },
  };
}

/**
 * Whatever an option throws arrives as an Error: Express takes `undefined` and `'route'` for "go on", and the request would
 * pass unlimited; Koa never answers then.
 */
function onlyErrors<A extends readonly unknown[], T>(
  where: string,
  work: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  return async (...args) => {
    try {
      return await work(...args);
    } catch (error) {
      throw error instanceof Error
        ? error
        : new Error(`${where}: an option threw ${describe(error)}`, { cause: error });
    }
  };
}

function limiterOf<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
): RateLimiter {
  const { limiter, policy } = options;
  if (limiter !== undefined) {
    // Not instanceof: it may come from the other copy of this package, ESM beside CJS.
    if (typeof limiter?.consume !== 'function') {
      throw new TypeError(`${where}: limiter must be a RateLimiter, not ${describe(limiter)}`);
    }
    const spare = LIMITER_OPTIONS.find((name) => options[name] !== undefined);
    if (spare === undefined) return limiter;
    throw new TypeError(`${where}: ${spare} belongs to the limiter you gave; leave out one of the two`);
  }
  if (policy === undefined) {
    throw new TypeError(
      `${where} needs a policy, such as fixedWindow({ limit: 100, window: '1m' }), or a limiter`,
    );
  }
  const given = LIMITER_OPTIONS.filter((name) => options[name] !== undefined);
  return new RateLimiter(
    Object.fromEntries(given.map((name) => [name, options[name]])) as unknown as RateLimiterOptions,
  );
}

type KeyOfRequest<Args> = (request: RequestView, args: Args) => LimiterKey | Promise<LimiterKey>;

function keyOfRequest<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
): KeyOfRequest<Args> {
  const { keyGenerator, key, user, ipv6Subnet = 64 } = options;
  checkFunction(where, 'keyGenerator', keyGenerator);
  checkFunction(where, 'user', user);
  const ways = KEY_OPTIONS.slice(0, 3).filter((name) => options[name] !== undefined);
  if (keyGenerator !== undefined) {
    if (ways.length > 1) throw new TypeError(`${where}: give one of ${ways.join(', ')}, not several`);
    return (_request, args) => keyGenerator(...args);
  }
  const limitType = parseLimitType(
    options.limitType ?? (key === undefined ? LimitType.IP : LimitType.CUSTOM),
  );
  if ((key !== undefined) !== (limitType === LimitType.CUSTOM)) {
    throw new TypeError(
      key === undefined
        ? `${where}: limitType CUSTOM needs a key, such as '#{user.id}'`
        : `${where}: key ${describe(key)} has no effect with limitType ${limitType}: use 'CUSTOM' or omit key`,
    );
  }
  return compileRequestKey({ limitType, key, user, ipv6Subnet });
}

function checkFunction(where: string, name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') {
    throw new TypeError(`${where}: ${name} must be a function, not ${describe(value)}`);
  }
}

import { compilePolicy } from '../algorithms/index.js';
import { RateLimiter } from '../limiter.js';
import type { RateLimiterOptions } from '../limiter-options.js';
import { describe } from '../options.js';
import { type Given, LimitersByPolicy } from './limiters-by-policy.js';
import {
  LIMITER_OPTIONS,
  type OfRequest,
  PLACE_OPTIONS,
  type Policies,
  type RequestLimitOptions,
} from './request-limit-options.js';

/** A limiter as requests need it. */
export interface Limited {
  readonly limiter: RateLimiter;
  /** Does a request hold permits for as long as it is served? */
  readonly holds: boolean;
}

/** Where a limit finds the limiter of a request. */
export interface LimiterSource<Args> {
  /** The limiter of all requests, unless each has its own. */
  readonly single: Limited | undefined;
  ofRequest(args: Args): Promise<Limited>;
  /** Closes what this made. */
  close(): Promise<void>;
}

/** @throws RangeError, TypeError naming the option that is wrong */
export function limiterOfRequest<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
): LimiterSource<Args> {
  const { limiter, policy, policies } = options;
  if (limiter !== undefined) {
    checkLimiter(where, limiter);
    const spare = LIMITER_OPTIONS.find((name) => options[name] !== undefined);
    if (spare === undefined) return always(limitedBy(limiter), async () => {});
    throw new TypeError(`${where}: ${spare} belongs to the limiter you gave; leave out one of the two`);
  }
  if (policy === undefined && policies === undefined) {
    throw new TypeError(
      `${where} needs a policy, such as fixedWindow({ limit: 100, window: '1m' }), or several policies, or a limiter`,
    );
  }
  if (policy !== undefined && policies !== undefined) {
    throw new TypeError(`${where}: give a policy or several policies, not both`);
  }
  if (typeof policy === 'function' || typeof policies === 'function') return eachItsOwn(where, options);
  const made = new RateLimiter(pick(options, LIMITER_OPTIONS) as unknown as RateLimiterOptions);
  return always(limitedBy(made), () => made.close());
}

function eachItsOwn<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
): LimiterSource<Args> {
  const limiters = new LimitersByPolicy(pick(options, PLACE_OPTIONS), limitedBy);
  return {
    single: undefined,
    ofRequest: async (args) => limiters.of(await givenBy(where, options, args)),
    close: () => limiters.close(),
  };
}

/** A request without a policy is an error: it must never pass unlimited. */
async function givenBy<Args extends readonly unknown[]>(
  where: string,
  { policy, policies }: RequestLimitOptions<Args>,
  args: Args,
): Promise<Given> {
  const refused = (option: string, given: unknown, wanted: string) =>
    new TypeError(
      `${where}: the function ${option} gave ${describe(given)} for a request; it must give ${wanted} for each. ` +
        'Requests without a limit are for skip',
    );
  if (typeof policy === 'function') {
    const given = await policy(...args);
    if (typeof given?.algorithm === 'string') return { policy: given };
    throw refused('policy', given, "a policy, such as fixedWindow({ limit: 100, window: '1m' }),");
  }
  const given = await (policies as OfRequest<Args, Policies>)(...args);
  const each = typeof given === 'object' && given !== null ? Object.values(given) : [];
  if (each.length > 0 && each.every((one) => typeof one?.algorithm === 'string')) return { policies: given };
  throw refused('policies', given, 'policies by their names, such as { perMinute: fixedWindow({ … }) },');
}

const always = <Args>(single: Limited, close: () => Promise<void>): LimiterSource<Args> => ({
  single,
  ofRequest: async () => single,
  close,
});

/** No algorithm is known by name here: what has holders is held. */
const limitedBy = (limiter: RateLimiter): Limited => ({
  limiter,
  holds: Object.values(limiter.policies).some(
    (policy) => compilePolicy(policy).algorithm.holders !== undefined,
  ),
});

/** Not instanceof: it may come from the other copy of this package, ESM beside CJS. */
function checkLimiter(where: string, limiter: Partial<RateLimiter> | null): void {
  const ours = typeof limiter?.consume === 'function' && typeof limiter.release === 'function';
  if (ours && typeof limiter.policies === 'object') return;
  throw new TypeError(
    ours
      ? `${where}: limiter must be a RateLimiter, not a CombinedLimiter, which takes a key for each of its limiters: ` +
          'give each of them a rateLimit of its own, or call its consume in a middleware of yours'
      : `${where}: limiter must be a RateLimiter, not ${describe(limiter)}`,
  );
}

const pick = <T extends object, K extends keyof T>(from: T, names: readonly K[]): Partial<Pick<T, K>> =>
  Object.fromEntries(
    names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]),
  ) as never;

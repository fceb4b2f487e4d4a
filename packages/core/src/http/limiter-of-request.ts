import { CombinedLimiter } from '../limiter/combined-limiter.js';
import type { Decision } from '../limiter/decision.js';
import { PLACE_OPTIONS, type RateLimiterOptions } from '../limiter/limiter-options.js';
import { RateLimiter } from '../limiter/rate-limiter.js';
import { checkOptions, describe } from '../options.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import type { Store } from '../stores/store.js';
import { checkLimiter, type Limited, limitedBy } from './limited.js';
import { LimitersByPolicy } from './limiters-by-policy.js';
import { policyOfRequest } from './policy-of-request.js';
import {
  CHOICE_OPTIONS,
  KEY_OPTIONS,
  LIMITER_OPTIONS,
  type OneOfLimits,
  type RequestLimitOptions,
  withKey,
} from './request-limit-options.js';

/** Where a limit finds the limiter of a request. */
export interface LimiterSource<Args> {
  readonly name: string;
  /** Where it counts; undefined when that cannot be told. */
  readonly store: Store | undefined;
  /** The limiter of all requests, unless each has its own. */
  readonly single: Limited | undefined;
  /** @param key the request's key, passed to functions that return policies */
  ofRequest(args: Args, key: string): Promise<Limited>;
  /** Is told which limiter made a decision, where there are several. */
  decided?(decision: Decision, by: Limited): void;
  /** @throws TypeError when the decision was made elsewhere */
  refund(decision: Decision): Promise<void>;
  /** Closes what this made. */
  close(): Promise<void>;
}

/** @throws RangeError, TypeError naming the option that is wrong */
export function limiterOfRequest<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
): LimiterSource<Args> {
  const { limiter, policy, policies, limits } = options;
  if (limiter !== undefined) {
    checkLimiter(where, limiter, options.keyGenerator !== undefined);
    const spare = LIMITER_OPTIONS.find((name) => options[name] !== undefined);
    if (spare === undefined) return always(limiter, async () => {});
    throw new TypeError(`${where}: ${spare} belongs to the limiter you gave; leave out one of the two`);
  }
  const [choice, second] = CHOICE_OPTIONS.filter((name) => options[name] !== undefined);
  if (choice === undefined) {
    throw new TypeError(
      `${where} needs a policy, such as fixedWindow({ limit: 100, window: '1m' }), or several policies, or limits, or a limiter`,
    );
  }
  if (second !== undefined) {
    const both =
      choice === 'policy' && second === 'policies'
        ? 'a policy or several policies'
        : `${choice} or ${second}`;
    throw new TypeError(`${where}: give ${both}, not both`);
  }
  if (limits !== undefined) return together(where, options, limits);
  if (typeof policy === 'function' || typeof policies === 'function') return eachItsOwn(where, options);
  const made = new RateLimiter(limiterOptions(pick(options, ['policy', 'policies', ...PLACE_OPTIONS])));
  return always(made, () => made.close());
}

/** Limits with a key each: limiters of one store, combined. */
function together<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
  limits: Readonly<Record<string, OneOfLimits<Args>>>,
): LimiterSource<Args> {
  if (
    typeof limits !== 'object' ||
    limits === null ||
    Array.isArray(limits) ||
    Object.keys(limits).length === 0
  ) {
    throw new TypeError(
      `${where}: limits must be limits by their names, such as { perIp: { policy }, perUser: { policy, limitType: 'USER' } }, ` +
        `not ${describe(limits)}`,
    );
  }
  const { name = 'default', store, ...place } = pick(options, PLACE_OPTIONS);
  const ownStore = store === undefined ? memoryStore() : undefined;
  const made = Object.entries(limits).map(([one, limit]) => {
    checkOptions(`${where}: limits.${one}`, limit, ['policy', 'policies', ...KEY_OPTIONS]);
    const { policy, policies } = limit;
    if (typeof policy === 'function' || typeof policies === 'function') {
      throw new TypeError(
        `${where}: limits.${one} takes policies as they are, not a function of the request`,
      );
    }
    const named = { ...place, name: `${name}.${one}`, store: store ?? ownStore! };
    return [
      one,
      new RateLimiter(limiterOptions({ ...named, ...pick(limit, ['policy', 'policies']) })),
    ] as const;
  });
  const combined = new CombinedLimiter(Object.fromEntries(made), { name });
  return always(combined, async () => {
    await combined.close();
    await Promise.all(made.map(([, limiter]) => limiter.close()));
    await ownStore?.close();
  });
}

function eachItsOwn<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
): LimiterSource<Args> {
  const limiters = new LimitersByPolicy(pick(options, PLACE_OPTIONS));
  const { name = 'default' } = options;
  const decidedBy = new WeakMap<Decision, Limited>();
  return {
    name,
    store: limiters.store,
    single: undefined,
    ofRequest: async (args, key) => limiters.of(await policyOfRequest(where, options, withKey(args, key))),
    decided: (decision, by) => void decidedBy.set(decision, by),
    refund: async (decision) => {
      const by = decidedBy.get(decision);
      if (by === undefined) throw new TypeError(`${where}: refund takes a decision of limit '${name}'`);
      await by.limiter.refund(decision);
    },
    close: () => limiters.close(),
  };
}

function always<Args>(
  limiter: RateLimiter | CombinedLimiter,
  close: () => Promise<void>,
): LimiterSource<Args> {
  const single = limitedBy(limiter);
  const [first] = Object.values(single.limiters);
  // One of the other copy of this package, ESM beside CJS, keeps its store to itself.
  const store = first instanceof RateLimiter ? RateLimiter.inside(first).store : undefined;
  const refund = (decision: Decision) => limiter.refund(decision);
  return { name: limiter.name, store, single, ofRequest: async () => single, refund, close };
}

/** What is wrong in them, the limiter says. */
const limiterOptions = (options: object) => options as RateLimiterOptions;

const pick = <T extends object, K extends keyof T>(from: T, names: readonly K[]): Partial<Pick<T, K>> =>
  Object.fromEntries(
    names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]),
  ) as Partial<Pick<T, K>>;

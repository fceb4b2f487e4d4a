import {
  CombinedLimiter,
  type LimiterPolicies,
  LimitType,
  memoryStore,
  RateLimiter,
  type RateLimiterOptions,
} from '@sluice/core';
import {
  type CallCost,
  checkOptions,
  describe,
  getOrCreate,
  isRecord,
  keyText,
  LIMITER_BASE_OPTIONS,
  LimiterPool,
  onlyOne,
} from '@sluice/core/internal';
import { pick } from './option-functions.js';
import {
  CHOICE_OPTIONS,
  KEY_OPTIONS,
  type KeyOptions,
  LIMITER_OPTIONS,
  type OfRequest,
  type Policies,
  type RequestLimitOptions,
  type WithKey,
  withKey,
} from './request-limit-options.js';
import { checkLimiter, type LimiterSource, RequestLimiter } from './request-limiter.js';
import { RulesSource } from './rules-source.js';

export function limiterSource<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
): LimiterSource<Args> {
  const { limiter, limits } = options;
  if (options.rules !== undefined) return new RulesSource(where, options);
  if (limiter !== undefined) {
    checkLimiter(where, limiter, options.keyGenerator !== undefined);
    const spare = LIMITER_OPTIONS.find((name) => options[name] !== undefined);
    if (spare === undefined) return fixed(where, options, limiter, async () => {});
    throw new TypeError(`${where}: ${spare} belongs to the limiter that you pass: omit one of the two`);
  }
  if (onlyOne(where, options, CHOICE_OPTIONS) === undefined) {
    throw new TypeError(
      `${where} needs a policy, such as fixedWindow({ limit: 100, window: '1m' }), or several policies, or limits, or a limiter, or rules`,
    );
  }
  if (limits !== undefined) return combined(where, options);
  if (isPerRequest(options)) return perRequest(where, options);
  const made = newLimiter(pick(options, ['policy', 'policies', ...LIMITER_BASE_OPTIONS]));
  nameKey(made, options);
  return fixed(where, options, made, () => made.close());
}

const isPerRequest = ({ policy, policies }: RequestLimitOptions<never>): boolean =>
  typeof policy === 'function' || typeof policies === 'function';

/** Makes known what a limiter counts by. */
function nameKey(limiter: RateLimiter, options: KeyOptions<never>): void {
  const { keyGenerator, key, limitType = LimitType.IP } = options;
  setKeyKind(limiter, keyGenerator === undefined ? keyText(key ?? limitType) : 'keyGenerator');
}

/** For processes that read what a limiter counts by. @param cost permits of its calls, if known */
export function setKeyKind(limiter: RateLimiter, kind: string, cost?: CallCost): void {
  Object.assign(RateLimiter.internals(limiter).limits.info, { key: kind, cost });
}

function fixed(
  where: string,
  options: RequestLimitOptions<never>,
  limiter: RateLimiter | CombinedLimiter,
  close: () => Promise<void>,
): LimiterSource<never> {
  const single = new RequestLimiter(limiter, where, options);
  const [first] = Object.values(single.limiters);
  return {
    name: limiter.name,
    store: first instanceof RateLimiter ? RateLimiter.internals(first).store : undefined,
    single,
    limiters: single.limiters,
    close,
  };
}

/** Limits with a key each, decided together: a `CombinedLimiter` over one store. */
function combined(where: string, options: RequestLimitOptions<never>): LimiterSource<never> {
  const { limits = {} } = options;
  if (!isRecord(limits) || Object.keys(limits).length === 0) {
    throw new TypeError(
      `${where}: limits must be an object of limits by name, such as { perIp: { policy }, perUser: { policy, limitType: 'USER' } }, ` +
        `not ${describe(limits)}`,
    );
  }
  const { name = 'default', store: given, ...base } = pick(options, LIMITER_BASE_OPTIONS);
  const store = given === undefined ? memoryStore() : given; // null is an error of the members
  const made = Object.entries(limits).map(([one, limit]) => {
    checkOptions(`${where}: limits.${one}`, limit, ['policy', 'policies', 'escalate', ...KEY_OPTIONS]);
    if (isPerRequest(limit))
      throw new TypeError(`${where}: limits.${one} takes a policy or policies, not a function`);
    const own = pick(limit, ['policy', 'policies', 'escalate']);
    const member = newLimiter({ ...base, name: `${name}.${one}`, store, ...own });
    nameKey(member, limit);
    return [one, member] as const;
  });
  const limiter = new CombinedLimiter(Object.fromEntries(made), { name });
  return fixed(where, options, limiter, async () => {
    await limiter.close();
    await Promise.all(made.map(([, member]) => member.close()));
    if (given === undefined) await store.close();
  });
}

/** Most cached limiters. Numbers that differ in each request must not fill the memory. */
const MAX_LIMITERS = 1000;

/** A limiter for each value that the function `policy` or `policies` returns. */
function perRequest<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
): LimiterSource<Args> {
  const pool = new LimiterPool(pick(options, LIMITER_BASE_OPTIONS), MAX_LIMITERS);
  const prepared = new WeakMap<RateLimiter, RequestLimiter>();
  const { name, store } = pool;
  return {
    name,
    store,
    single: undefined,
    get limiters(): never {
      throw new TypeError(
        `${where}: limit '${name}' has a policy for each request, and so no single limiter. To peek or reset, create a ` +
          'RateLimiter with the same name, store and algorithm: it shares the counts',
      );
    },
    ofRequest: async (args, key) => {
      const limiter = pool.byPolicies(await policiesOf(where, options, withKey(args, key)));
      return getOrCreate(prepared, limiter, () => {
        nameKey(limiter, options);
        return new RequestLimiter(limiter, where, options);
      });
    },
    close: () => pool.close(),
  };
}

/**
 * Calls the option `policy` or `policies`.
 * @throws TypeError if it returns none: a request must never pass unlimited by accident
 */
async function policiesOf<Args extends readonly unknown[]>(
  where: string,
  { policy, policies }: RequestLimitOptions<Args>,
  args: WithKey<Args>,
): Promise<LimiterPolicies> {
  const isOne = typeof policy === 'function';
  const given = await (isOne ? policy : (policies as OfRequest<WithKey<Args>, Policies>))(...args);
  const each: unknown[] = isOne ? [given] : Object.values(Object(given));
  if (each.length > 0 && each.every((one) => typeof Object(one).algorithm === 'string')) return given;
  const wanted = isOne
    ? "a policy, such as fixedWindow({ limit: 100, window: '1m' }),"
    : 'policies by name, such as { perMinute: fixedWindow({ … }) },';
  throw new TypeError(
    `${where}: the function ${isOne ? 'policy' : 'policies'} returned ${describe(given)} for a request; ` +
      `it must return ${wanted} for each request. To pass requests uncounted, use skip`,
  );
}

/** The limiter checks the options. */
const newLimiter = (options: object) => new RateLimiter(options as RateLimiterOptions);

import type { Policy } from '../algorithms/algorithm.js';
import type { EscalateOptions } from '../algorithms/escalate-options.js';
import { MOST_BOOKED, type WaitingOptions } from '../call/limit.js';
import { type Duration, toMicros } from '../duration.js';
import { checkInteger, checkName, checkOptions, describe, isRecord } from '../options.js';
import { Pipeline, type PipelineOptions } from '../pipeline/pipeline.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import type { Store } from '../stores/store.js';
import { compileFailurePolicy, type FailurePolicy } from './failure-policy.js';
import { Limits } from './limits.js';
import type { NotifyOptions } from './observer.js';
import { type PrefetchOptions, readPrefetch } from './prefetch-options.js';

/** Everything about a limiter but its policies. */
export interface LimiterBaseOptions {
  /**
   * The name in keys, headers and errors. Letters, digits and `. _ - : / @ #`; default `'default'`. Required with a
   * `store`, which other limits may also use.
   */
  readonly name?: string | undefined;
  /** Where state lives; default a `memoryStore()` of this limiter's own. A store that you pass is yours to close. */
  readonly store?: Store | undefined;
  /** The first part of every storage key; default `'sluice'`. */
  readonly keyPrefix?: string | undefined;
  /**
   * Puts all keys of this limiter into one slot of a Redis Cluster, and so on one node. In a cluster, all members of a `CombinedLimiter`
   * need the same tag. Default: keys are spread over all slots.
   */
  readonly hashTag?: string | undefined;
  /** How long the answer of a remote store may take, without the wait of `acquire`; default 100 ms, of a file 1 s. */
  readonly deadline?: Duration | undefined;
  /**
   * How to decide while a remote store is out: `'local'`, `'allow'`, `'deny'` or a function that returns one of them; see `FailurePolicy`.
   * Default `'local'`: each process counts for itself, with the whole limit.
   */
  readonly failurePolicy?: FailurePolicy | undefined;
  /**
   * How long this process caches a denial of a remote store, at most until the call could pass; default `'1s'`. A change by another
   * limiter or process (`reset`, `refund`, `unblock`, …) takes effect after that. `false`: each call goes to the store.
   */
  readonly denyCache?: Duration | false | undefined;
  /**
   * Takes permits from a remote store in blocks, such as `{ most: 100 }`, and uses them in this process: fewer calls to the store, and
   * immediate answers for busy keys. See `PrefetchOptions` and docs/prefetch.md. For a single `fixedWindow`, `slidingWindow`, `gcra`,
   * `leakyBucket` or `tokenBucket`; no effect with several `policies`. Default `false`.
   */
  readonly prefetch?: PrefetchOptions | false | undefined;
  /**
   * Blocks a key that is denied again and again, longer each time: `{ after: 3, within: '1h', block: ['1m', '10m', '1d'], forgive: '1d' }`. See
   * `EscalateOptions`. Not together with `prefetch`. Default `false`.
   */
  readonly escalate?: EscalateOptions | false | undefined;
  /**
   * Thresholds that are published on the channel `sluice:threshold`, once for each key and window in all processes: `['80%', '100%']`. With
   * several `policies` by their names: `{ perMonth: ['80%'] }`. For `fixedWindow` only. See docs/recipes/quotas.md.
   */
  readonly notify?: NotifyOptions | undefined;
  /**
   * How much later than its permits are back a waiting call passes, because calls start and arrive with different delays. It uses up a part of
   * the rate: 50 ms of each window of 1 s. Default: as much as the waits of this process ended late, at most 5 % of the window and 50 ms; for
   * `leakyBucket` none, because its queue has room for fewer calls with a margin. `0`: none. A call whose `timeout` is too short for it passes without it. No effect on `consume` and on `concurrency`.
   */
  readonly margin?: Duration | undefined;
  /** How far apart waiting calls pass at least, but never slower than the rate: `'1s'` spreads 50 calls evenly over each second. Default: the `margin`. */
  readonly gap?: Duration | undefined;
  /**
   * The most calls that wait at a key at once, of all processes of the store together: a whole number from 0 to 1000, the default. One more
   * rejects at once, with `queueFull` in its `RateLimitExceededError`. For `concurrency`, the default is the policy's `queue`.
   */
  readonly maxWaiting?: number | undefined;
}

/** The options of `RateLimiter`: one `policy`, or several `policies`, and how to count them. */
export type RateLimiterOptions = LimiterBaseOptions &
  (
    | {
        /** How to decide: `fixedWindow({ … })`, `tokenBucket({ … })`, … */
        readonly policy: Policy;
        readonly policies?: undefined;
      }
    | {
        readonly policy?: undefined;
        /** Several policies by their names, decided all or nothing: `{ perMinute: fixedWindow({ … }), perDay: … }`. */
        readonly policies: Readonly<Record<string, Policy>>;
      }
  );

/** The names of the options of a `LimiterBaseOptions`. */
export const LIMITER_BASE_OPTIONS = [
  'name',
  'store',
  'keyPrefix',
  'hashTag',
  'deadline',
  'failurePolicy',
  'denyCache',
  'prefetch',
  'escalate',
  'notify',
  'margin',
  'gap',
  'maxWaiting',
] as const satisfies readonly (keyof LimiterBaseOptions)[];

/** @throws TypeError unless it is a store */
export function checkStore(where: string, store: Store): void {
  if (typeof store?.decide !== 'function') {
    throw new TypeError(`${where}: store must be memoryStore() or redisStore(…), not ${describe(store)}`);
  }
}

/** The deadline of limiters that name none, ms, unless their store has a usual one. */
export const USUAL_DEADLINE = 100;

/** µs. @throws RangeError */
export const checkDeadline = (
  where: string,
  deadline: Duration | undefined,
  store: Store | undefined,
): number => toMicros(`${where}: deadline`, deadline ?? store?.usualDeadline ?? USUAL_DEADLINE);

/** @throws RangeError */
export function checkWaiting(
  where: string,
  { margin, gap, maxWaiting }: Pick<LimiterBaseOptions, 'margin' | 'gap' | 'maxWaiting'>,
): WaitingOptions {
  if (maxWaiting !== undefined) checkInteger(`${where}: maxWaiting`, maxWaiting, 0, MOST_BOOKED);
  const micros = (name: string, duration: Duration | undefined) =>
    duration === undefined ? undefined : toMicros(`${where}: ${name}`, duration, 0);
  return { margin: micros('margin', margin), gap: micros('gap', gap), maxWaiting };
}

/** Decides a limiter's calls: a store in this process itself, or the pipeline to a remote store. Memory decides while that store is out. */
export const deciderOf = <S extends Store>(store: S, options: PipelineOptions): Pipeline | S =>
  store.remote ? new Pipeline(store, options, memoryStore) : store;

export function checkLimiterOptions(options: RateLimiterOptions) {
  checkOptions('RateLimiter', options, ['policy', 'policies', ...LIMITER_BASE_OPTIONS]);
  const {
    name = 'default',
    policy,
    policies,
    store,
    keyPrefix = 'sluice',
    hashTag,
    denyCache = '1s',
    prefetch = false,
    escalate = false,
    notify,
  } = options;
  checkName('RateLimiter: name', name);
  checkName('RateLimiter: keyPrefix', keyPrefix);
  if (hashTag !== undefined) checkName('RateLimiter: hashTag', hashTag);
  if (policies !== undefined && policy !== undefined) {
    throw new TypeError('RateLimiter: give a policy or several policies, not both');
  }
  if (policies !== undefined) checkPolicies(policies);
  if (store !== undefined) checkStore('RateLimiter', store);
  if (store !== undefined && options.name === undefined) {
    throw new TypeError(
      "RateLimiter: a limiter with a store needs a name, such as 'login': limiters without a name would count together",
    );
  }
  const wanted = prefetch === false ? undefined : readPrefetch('RateLimiter', prefetch);
  if (escalate !== false && wanted !== undefined && !wanted.isDefault) {
    throw new TypeError(
      'RateLimiter: escalate and prefetch do not go together: prefetched permits are used and denied without the store, which counts the denials. ' +
        'Leave out one of them, or set it to false',
    );
  }
  const failure = compileFailurePolicy('RateLimiter', name, options.failurePolicy);
  const byName = policies === undefined ? { [name]: policy! } : { ...policies };
  const limits = new Limits(name, byName, policies !== undefined, {
    keyPrefix,
    hashTag,
    failure,
    prefetch: escalate === false ? wanted : undefined,
    remote: store?.remote === true,
    escalate: escalate === false ? undefined : escalate,
    notify,
    waiting: checkWaiting('RateLimiter', options),
  });
  if (store !== undefined && store.claim === undefined && limits.notifies) {
    throw new TypeError(
      'RateLimiter: notify needs a store that lets one process report a threshold: memoryStore() or redisStore(…), or a store of yours with claim()',
    );
  }
  return {
    name,
    limits,
    store,
    deadline: checkDeadline('RateLimiter', options.deadline, store),
    denyCache:
      denyCache === false ? 0 : toMicros('RateLimiter: denyCache', denyCache, 1, ', or false for none'),
  };
}

function checkPolicies(given: unknown): void {
  const names = isRecord(given) ? Object.keys(given) : [];
  if (names.length === 0 || names.length > 20) {
    throw new TypeError(
      `RateLimiter: policies must be an object of 1 to 20 policies by their names, such as { perMinute: fixedWindow({ … }) }, not ${describe(given)}`,
    );
  }
  for (const name of names) checkName('RateLimiter: the name of a policy', name);
}

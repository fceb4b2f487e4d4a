import { type Duration, exactLength, toMicros } from '../../duration.js';
import { checkBoolean, checkInteger, checkOneOf, checkOptions, describe } from '../../options.js';
import type { Policy, Rule } from '../algorithm.js';
import { notePeriod, type PolicyKind, permitsOf, timeOf } from '../policy-kind.js';
import { meterRule } from './meter.js';

/** The numbers of `tokenBucket`. */
export interface TokenBucketOptions {
  /**
   * Permits in a full bucket, ≥ 1: the largest burst. It may be a fraction, unless the permits come in batches. 0 closes the
   * limit: every call is denied.
   */
  readonly capacity: number;
  /** Permits that flow in per `every`: a whole number. 0 closes the limit: every call is denied. */
  readonly refill: number;
  /** The time in which `refill` permits flow in. */
  readonly every: Duration;
  /**
   * `'continuous'`, the default: permits flow in steadily. `'interval'`: all `refill` at once at each tick; the first tick is
   * `every` after a full bucket is used, the others `every` apart.
   */
  readonly mode?: 'continuous' | 'interval';
  /**
   * Permits in the bucket of a key that is met for the first time: a whole number from 0 to `capacity`, the default. A key
   * that is not used for a day, or for as long as the bucket takes to fill if that is longer, is met for the first time again.
   */
  readonly initial?: number;
  /**
   * How many permits below empty the bucket may go: a whole number; default 0. A call may go into debt if at least one permit is there.
   * Later calls wait until the debt is paid.
   */
  readonly borrow?: number;
  /**
   * Lets `acquire` wait for more permits than the bucket ever holds. Default false: such a call is refused. With `true` it waits
   * until its permits have flowed in, later calls wait behind it, and the bucket is empty after it. `consume` with such a cost is
   * always denied. So is an `acquire` whose `timeout` is too short for its cost.
   */
  readonly waitBeyondCapacity?: boolean;
}

/** What `tokenBucket` returns. */
export interface TokenBucketPolicy extends Policy {
  readonly algorithm: 'tokenBucket';
  readonly capacity: number;
  readonly refill: number;
  /** Milliseconds. */
  readonly every: number;
  /** Left out for `'continuous'`. */
  readonly mode?: 'interval';
  /** Left out if it is `capacity`. */
  readonly initial?: number;
  /** Left out if it is 0. */
  readonly borrow?: number;
  /** Present only if true. */
  readonly waitBeyondCapacity?: boolean;
}

const OPTIONS = ['capacity', 'refill', 'every', 'mode', 'initial', 'borrow', 'waitBeyondCapacity'];

/**
 * A bucket that fills at a steady rate, or in batches. In any time span of length t at most
 * `capacity + borrow + refill × t / every` permits leave it; in batches, with t / every rounded up.
 * @throws RangeError naming the number that is not acceptable
 */
export function tokenBucket(options: TokenBucketOptions): TokenBucketPolicy {
  checkOptions('tokenBucket', options, OPTIONS);
  const { capacity, refill, every, mode = 'continuous', initial, borrow, waitBeyondCapacity } = options;
  checkBoolean('tokenBucket: waitBeyondCapacity', waitBeyondCapacity);
  checkOneOf('tokenBucket: mode', mode, ['continuous', 'interval']);
  if (mode === 'interval') checkInteger("tokenBucket: capacity in mode 'interval'", capacity, 0);
  if (
    capacity !== 0 &&
    !(typeof capacity === 'number' && capacity >= 1 && capacity <= Number.MAX_SAFE_INTEGER)
  ) {
    throw new RangeError(
      `tokenBucket: capacity must be a number of permits ≥ 1, or 0 for a closed limit, not ${describe(capacity)}`,
    );
  }
  if (initial !== undefined) checkInteger('tokenBucket: initial', initial, 0, Math.floor(capacity));
  if (borrow !== undefined) checkInteger('tokenBucket: borrow', borrow, 0);
  const policy: TokenBucketPolicy = {
    algorithm: 'tokenBucket',
    capacity,
    refill: checkInteger('tokenBucket: refill', refill, 0),
    every: toMicros('tokenBucket: every', every) / 1000,
    ...(mode === 'interval' ? { mode } : {}),
    ...(initial === undefined || initial === capacity ? {} : { initial }),
    ...(borrow === undefined || borrow === 0 ? {} : { borrow }),
    ...(waitBeyondCapacity ? { waitBeyondCapacity } : {}),
  };
  ruleOf(policy);
  return notePeriod(policy, 'every', every);
}

function ruleOf(policy: TokenBucketPolicy): Rule {
  const { capacity, refill, every, mode, initial, borrow, waitBeyondCapacity } = policy;
  return meterRule({
    policy:
      `tokenBucket: capacity ${capacity}${borrow === undefined ? '' : `, borrow ${borrow}`} ` +
      `with refill ${refill} every ${every} ms`,
    capacity,
    refill,
    every: toMicros('tokenBucket: every', every),
    inBatches: mode === 'interval',
    initial,
    borrow,
    acquires: waitBeyondCapacity ? 'saved' : undefined,
  });
}

export const tokenBucketKind: PolicyKind<TokenBucketPolicy, TokenBucketOptions> = {
  name: 'tokenBucket',
  page: 'token-bucket',
  prefetches: "without borrow and mode 'interval'",
  options: {
    capacity: { type: 'count', sample: '10' },
    refill: { type: 'count', sample: '1' },
    every: { type: 'duration', sample: '1s' },
    mode: { type: 'word', words: ['continuous', 'interval'], optional: true, sample: '' },
    initial: { type: 'count', optional: true, sample: '' },
    borrow: { type: 'count', optional: true, sample: '' },
    waitBeyondCapacity: { type: 'flag', optional: true },
  },
  create: tokenBucket,
  text: ({ capacity, refill, every, mode }) =>
    `${capacity} at once, ${refill} more every ${exactLength(every)}${mode === 'interval' ? ' in batches' : ''}`,
  compile: ({ algorithm: _, ...options }) => ruleOf(tokenBucket(options)),
  shareOf: (policy, share) => ({
    ...policy,
    ...rateOf(policy, share),
    capacity: permitsOf(policy.capacity, share),
    ...(policy.initial === undefined ? {} : { initial: Math.floor(policy.initial * share) }),
    ...(policy.borrow === undefined ? {} : { borrow: Math.floor(policy.borrow * share) }),
  }),
};

/** Steadily, a share comes in a longer time; in batches, fewer at the same ticks. */
function rateOf({ refill, every, mode }: TokenBucketPolicy, share: number) {
  if (mode !== 'interval') return { every: timeOf(every, refill, share) };
  if (refill === 0) return { refill };
  const permits = permitsOf(refill, share);
  return { refill: permits, every: refill * share < 1 ? timeOf(every, 1, refill * share) : every };
}

/**
 * The bucket of Guava's RateLimiter: `rate` permits a second, and a capacity of `burst` seconds of them, but at least one permit:
 * a smaller bucket could never admit a call. A `rate` of 0 closes the limit: every call is denied. An `acquire` above the
 * capacity waits until its permits have flowed in; `waitBeyondCapacity: false` refuses it.
 * @throws RangeError naming the invalid number
 */
export function tokenBucketOfRate(options: {
  readonly rate: number;
  readonly burst: number;
  readonly waitBeyondCapacity?: boolean;
}): TokenBucketPolicy {
  checkOptions('tokenBucketOfRate', options, ['rate', 'burst', 'waitBeyondCapacity']);
  const { rate, burst, waitBeyondCapacity = true } = options;
  for (const [name, value] of Object.entries({ rate, burst })) {
    if (name === 'rate' && value === 0) continue;
    if (typeof value !== 'number' || !(value >= 1e-8 && value <= 1e12)) {
      throw new RangeError(
        `tokenBucketOfRate: ${name} must be a number from 1e-8 to 1e12, not ${describe(value)}`,
      );
    }
  }
  if (rate === 0) return tokenBucket({ capacity: 0, refill: 0, every: 1000 });
  const { refill, seconds } = fraction(rate);
  const capacity = Math.max(1, rate * burst);
  return tokenBucket({ capacity, refill, every: seconds * 1000, waitBeyondCapacity });
}

/** The simplest fraction that is the given double to 9 digits, by continued fractions: 1 / 60 is meant as 1 in 60 s. */
function fraction(rate: number): { refill: number; seconds: number } {
  let [refill, seconds] = [Math.floor(rate), 1];
  let [lastRefill, lastSeconds] = [1, 0];
  let rest = rate - refill;
  while (Math.abs(refill / seconds - rate) > rate * 1e-9) {
    const whole = Math.floor(1 / rest);
    rest = 1 / rest - whole;
    [refill, lastRefill] = [whole * refill + lastRefill, refill];
    [seconds, lastSeconds] = [whole * seconds + lastSeconds, seconds];
  }
  return { refill, seconds };
}

import { type Duration, exactLength, toMicros } from '../../duration.js';
import { checkInteger, checkOptions } from '../../options.js';
import type { Policy, Rule } from '../algorithm.js';
import { notePeriod, type PolicyKind, permitsOf, timeOf } from '../policy-kind.js';
import { meterRule } from '../token-bucket/meter.js';

/** The numbers of `leakyBucket`. */
export interface LeakyBucketOptions {
  /** Permits the bucket holds: a whole number. A call that would overflow it is denied. 0 closes the limit: every call is denied. */
  readonly capacity: number;
  /** Permits that leak out per `every`, steadily: a whole number. 0 closes the limit: every call is denied. */
  readonly leak: number;
  /** The time in which `leak` permits leak out. */
  readonly every: Duration;
}

/** What `leakyBucket` returns. */
export interface LeakyBucketPolicy extends Policy {
  readonly algorithm: 'leakyBucket';
  readonly capacity: number;
  readonly leak: number;
  /** Milliseconds. */
  readonly every: number;
}

/**
 * A bucket that calls pour permits into, and that leaks at a constant rate. `consume` is a meter: it passes at once or, when the
 * bucket would overflow, not at all. `acquire` is a queue of that size: calls leave it at the rate of the leak. In any time
 * span of length t at most `capacity + leak × t / every` permits go.
 * @throws RangeError naming the number that is not acceptable
 */
export function leakyBucket(options: LeakyBucketOptions): LeakyBucketPolicy {
  checkOptions('leakyBucket', options, ['capacity', 'leak', 'every']);
  const { capacity, leak, every } = options;
  const policy: LeakyBucketPolicy = {
    algorithm: 'leakyBucket',
    capacity: checkInteger('leakyBucket: capacity', capacity, 0),
    leak: checkInteger('leakyBucket: leak', leak, 0),
    every: toMicros('leakyBucket: every', every) / 1000,
  };
  ruleOf(policy);
  return notePeriod(policy, 'every', every);
}

function ruleOf({ capacity, leak, every }: LeakyBucketPolicy): Rule {
  return meterRule({
    policy: `leakyBucket: capacity ${capacity} with leak ${leak} every ${every} ms`,
    capacity,
    refill: leak,
    every: toMicros('leakyBucket: every', every),
    acquires: 'spaced',
  });
}

export const leakyBucketKind: PolicyKind<LeakyBucketPolicy, LeakyBucketOptions> = {
  name: 'leakyBucket',
  page: 'leaky-bucket',
  prefetches: true,
  options: {
    capacity: { type: 'count', sample: '10' },
    leak: { type: 'count', sample: '1' },
    every: { type: 'duration', sample: '1s' },
  },
  create: leakyBucket,
  text: ({ capacity, leak, every }) =>
    `${capacity} at once, ${leak} ${leak === 1 ? 'leaves' : 'leave'} every ${exactLength(every)}`,
  shareOf: (policy, share) => ({
    ...policy,
    capacity: permitsOf(policy.capacity, share),
    every: timeOf(policy.every, policy.leak, share),
  }),
  compile: ({ algorithm: _, ...options }) => ruleOf(leakyBucket(options)),
};

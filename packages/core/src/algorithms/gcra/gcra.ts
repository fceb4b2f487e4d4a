import { type Duration, exactLength, toMicros } from '../../duration.js';
import { checkInteger, checkOptions } from '../../options.js';
import type { Policy, Rule } from '../algorithm.js';
import { notePeriod, type PolicyKind, permitsOf, timeOf } from '../policy-kind.js';
import { meterRule } from '../token-bucket/meter.js';

/** The numbers of `gcra`. */
export interface GcraOptions {
  /**
   * Permits per `period`: a whole number. One permit returns every `period / limit`, the emission interval. 0 closes the limit:
   * every call is denied.
   */
  readonly limit: number;
  /** The time in which `limit` permits come back. */
  readonly period: Duration;
  /** Permits available at once after a pause: a whole number. Default `limit`. 1 spaces calls one interval apart; 0 closes the limit. */
  readonly burst?: number;
}

/** What `gcra` returns. */
export interface GcraPolicy extends Policy {
  readonly algorithm: 'gcra';
  readonly limit: number;
  /** Milliseconds. */
  readonly period: number;
  /** Only when it is not `limit`. */
  readonly burst?: number;
}

/**
 * The generic cell rate algorithm: a steady rate with a tolerance. In any time span of length t at most
 * `burst + limit × t / period` permits go.
 * @throws RangeError naming the number that is not acceptable
 */
export function gcra(options: GcraOptions): GcraPolicy {
  checkOptions('gcra', options, ['limit', 'period', 'burst']);
  const { limit, period, burst } = options;
  if (burst !== undefined) checkInteger('gcra: burst', burst, 0);
  const policy: GcraPolicy = {
    algorithm: 'gcra',
    limit: checkInteger('gcra: limit', limit, 0),
    period: toMicros('gcra: period', period) / 1000,
    ...(burst === undefined || burst === limit ? {} : { burst }),
  };
  ruleOf(policy);
  return notePeriod(policy, 'period', period);
}

function ruleOf({ limit, period, burst = limit }: GcraPolicy): Rule {
  return meterRule({
    policy: `gcra: burst ${burst} with limit ${limit} in a period of ${period} ms`,
    capacity: burst,
    refill: limit,
    every: toMicros('gcra: period', period),
  });
}

export const gcraKind: PolicyKind<GcraPolicy, GcraOptions> = {
  name: 'gcra',
  page: 'gcra',
  prefetches: true,
  options: {
    limit: { type: 'count', sample: '10' },
    period: { type: 'duration', sample: '10s' },
    burst: { type: 'count', optional: true, sample: '3' },
  },
  create: gcra,
  text: ({ limit, period, burst }) =>
    `${limit} per ${exactLength(period)}${burst === undefined ? '' : `, ${burst} at once`}`,
  shareOf: (policy, share) => ({
    ...policy,
    period: timeOf(policy.period, policy.limit, share),
    burst: permitsOf(policy.burst ?? policy.limit, share),
  }),
  compile: ({ algorithm: _, ...options }) => ruleOf(gcra(options)),
};

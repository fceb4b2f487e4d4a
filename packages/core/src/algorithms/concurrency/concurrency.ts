import { type Duration, exactLength, toMicros } from '../../duration.js';
import { checkInteger, checkOptions, describe } from '../../options.js';
import type { Policy } from '../algorithm.js';
import { type PolicyKind, shareOfLimit } from '../policy-kind.js';
import { concurrencyAlgorithm } from './semaphore.js';

export { concurrencyAlgorithm };

/** The numbers of `concurrency`. */
export interface ConcurrencyOptions {
  /** The most permits held at once: a whole number from 0 (closed: every call is denied) to 10,000. */
  readonly limit: number;
  /**
   * How long a holder keeps its permits unless it renews them, as a living process does by itself. The permits of a process that died are
   * missing for that long. From 100 ms to 1 day. Default: `'30s'`.
   */
  readonly lease?: Duration;
  /** The most calls that wait at once: a whole number from 0 (no call waits) to 10,000. Default: 1000. */
  readonly queue?: number;
}

/** What `concurrency` returns. */
export interface ConcurrencyPolicy extends Policy {
  readonly algorithm: 'concurrency';
  readonly limit: number;
  /** Milliseconds. */
  readonly lease: number;
  /** Only when it is not 1000. */
  readonly queue?: number;
}

/** Each call reads and writes the whole state, so it needs a bound. */
const MOST = 10_000;
const QUEUE = 1000;
/** A holder renews several times a lease: a shorter lease would end before a renewal arrives. */
const SHORTEST = 100_000;
const LONGEST_LEASE = 86_400_000_000;

/**
 * A semaphore that processes share: at most `limit` permits are held at once, each until it is released or its lease ends.
 * Waiting calls are served first come, first served.
 * @throws RangeError naming the number that is not acceptable
 */
export function concurrency(options: ConcurrencyOptions): ConcurrencyPolicy {
  checkOptions('concurrency', options, ['limit', 'lease', 'queue']);
  const { limit, lease = '30s', queue = QUEUE } = options;
  checkInteger('concurrency: limit', limit, 0, MOST);
  checkInteger('concurrency: queue', queue, 0, MOST);
  const micros = toMicros('concurrency: lease', lease);
  if (micros < SHORTEST || micros > LONGEST_LEASE) {
    throw new RangeError(
      `concurrency: lease must be from '100ms' to '1d', not ${describe(lease)}: holders renew it for as long as they ` +
        'work, so it need only outlast a pause of the process',
    );
  }
  const policy = { algorithm: 'concurrency', limit, lease: micros / 1000 } as const;
  return queue === QUEUE ? policy : { ...policy, queue };
}

export const concurrencyKind: PolicyKind<ConcurrencyPolicy, ConcurrencyOptions> = {
  name: 'concurrency',
  page: 'concurrency',
  options: {
    limit: { type: 'count', sample: '2' },
    lease: { type: 'duration', optional: true, sample: '30s' },
    queue: { type: 'count', optional: true, sample: '' },
  },
  create: concurrency,
  text: ({ limit, lease }) => `${limit} at the same time, leases of ${exactLength(lease)}`,
  shareOf: shareOfLimit,
  compile: ({ limit, lease, queue = QUEUE }) => {
    const checked = concurrency({ limit, lease, queue });
    const parameters = [limit, toMicros('concurrency: lease', checked.lease), queue];
    return { algorithm: concurrencyAlgorithm, parameters, ...concurrencyAlgorithm.figures.size(parameters) };
  },
};

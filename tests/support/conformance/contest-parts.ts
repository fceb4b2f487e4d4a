import type { Policy } from '../../../packages/core/src/algorithms/algorithm.js';
import { idealBucket, idealLog } from '../../correctness/race/ideal.js';
import { inAnySpan, inAnyWindow } from '../../correctness/race/judge.js';
import type { Contest } from './conformance.js';

export { idealBatches, idealWindows } from '../../correctness/race/ideal.js';
export { inBatches, inClockWindows, inNamedWindows } from '../../correctness/race/judge.js';

export const MS = 1000;

/** At most `limit` permits in any window of `window` µs. */
export const anyWindow = (policy: Policy, limit: number, window: number): Contest => ({
  policy,
  judge: inAnyWindow(limit, window),
  ideal: () => idealLog(limit, window),
});

/** At most `capacity` permits at once, and `refill` more in `every` µs, steadily. */
export const anySpan = (policy: Policy, capacity: number, refill: number, every: number): Contest => ({
  policy,
  judge: inAnySpan(capacity, refill, every),
  ideal: () => idealBucket(capacity, refill, every),
});

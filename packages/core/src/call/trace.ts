import type { Parameters, State } from '../algorithms/algorithm.js';

/** The inputs and outputs of the decision on one part. */
export interface Trace {
  /** Parameters of the policy, of its override or of a shared rate. */
  readonly parameters: Parameters;
  /** State at the moment of the decision; undefined if no earlier call counts any more. */
  readonly before: State | undefined;
  readonly after: State | undefined;
  /** Moments and costs of the bookings; the end of a block in µs, 0 without one. */
  readonly queue: readonly number[];
  readonly blockedUntil: number;
}

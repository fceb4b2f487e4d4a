import type { Policy } from '../../packages/core/src/algorithms/algorithm.js';

/** What every process of the fleet is told to do at the same time. */
export interface Heat {
  readonly name: string;
  readonly policy: Policy;
  readonly keys: number;
  readonly asks: number;
  readonly inFlight: number;
  /** How often the network loses a reply together with its connection. */
  readonly resets: number;
}

export interface HeatResult {
  readonly asked: number;
  readonly resets: number;
  /** `FIELDS` numbers for each answer: key, moment, cost, allowed (1 or 0), µs until every permit is back. */
  readonly answers: Float64Array;
}

export const FIELDS = 5;

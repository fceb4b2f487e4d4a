import type { Parameters } from '../algorithms/algorithm.js';

/** A rate as it stands in a store, for the whole fleet. */
export interface StoredRate {
  /** µs: how long it is kept after its last use. */
  readonly keepAlive: number;
  /** 1: each client has the rate for itself; 0: all share it. */
  readonly perClient: 0 | 1;
  readonly parameters: Parameters;
}

/**
 * - `try`: set it if there is none; otherwise that counts as a use of the one that is there;
 * - `set`: set it; all that was taken before counts no more;
 * - `update`: change it, if there is one; what was taken counts on;
 * - `get`: read it;
 * - `delete`: forget it and what was taken.
 */
export interface RateChange {
  readonly action: 'try' | 'set' | 'update' | 'get' | 'delete';
  /** Where it is kept. */
  readonly key: string;
  /** For the first three. */
  readonly rate?: StoredRate;
}

/** The rate that holds afterwards, and whether the change made it. */
export interface RateAnswer {
  readonly changed: boolean;
  readonly rate: StoredRate | undefined;
}

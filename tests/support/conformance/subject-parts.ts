import type { Policy } from '../../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import type { Subject } from './conformance.js';

export const SECOND = 1_000_000;
export const HOUR = 3_600 * SECOND;
export const DAY = 24 * HOUR;
export const YEAR = 365 * DAY;

export const LIMIT = 4;

export const times = (window: number) => ({ window, longestTtl: window });

/** Windows that follow each other. `edges`: how many more of them a span can touch than lie in it completely. */
export const windows = (policy: Policy, length: number, edges: number): Subject => ({
  ...times(Math.max(length, compilePolicy(policy).window)),
  policy,
  most: (span) => LIMIT * (Math.floor(span / length) + edges),
});

export const bucketSubject = (policy: Policy, most: (span: number) => number): Subject => {
  const { window } = compilePolicy(policy);
  return { policy, window, longestTtl: 2 * window, most };
};
export const steady = (span: number) => LIMIT + Math.floor((LIMIT * span) / HOUR);

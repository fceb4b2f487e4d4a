import { concurrencyConformance } from '../../../packages/core/src/algorithms/concurrency/concurrency.conformance.js';
import { fixedWindowConformance } from '../../../packages/core/src/algorithms/fixed-window/fixed-window.conformance.js';
import { gcraConformance } from '../../../packages/core/src/algorithms/gcra/gcra.conformance.js';
import { leakyBucketConformance } from '../../../packages/core/src/algorithms/leaky-bucket/leaky-bucket.conformance.js';
import { slidingLogConformance } from '../../../packages/core/src/algorithms/sliding-log/sliding-log.conformance.js';
import { slidingWindowConformance } from '../../../packages/core/src/algorithms/sliding-window/sliding-window.conformance.js';
import { tokenBucketConformance } from '../../../packages/core/src/algorithms/token-bucket/token-bucket.conformance.js';
import type { Conformance } from './conformance.js';

/** The record of each algorithm. A new one is a line here. */
export const conformances: readonly Conformance[] = [
  fixedWindowConformance,
  slidingWindowConformance,
  slidingLogConformance,
  tokenBucketConformance,
  gcraConformance,
  leakyBucketConformance,
  concurrencyConformance,
];

/** What `part` of each record has, in one object. */
export const merged = <T>(
  part: (record: Conformance) => Readonly<Record<string, T>> | undefined,
): Record<string, T> => Object.assign({}, ...conformances.map(part));

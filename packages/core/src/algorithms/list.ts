// The list of algorithms: what core exports of each, and its kind. A new one is a folder and three entries here.

import { concurrencyKind } from './concurrency/concurrency.js';
import { fixedWindowKind } from './fixed-window/fixed-window.js';
import { gcraKind } from './gcra/gcra.js';
import { leakyBucketKind } from './leaky-bucket/leaky-bucket.js';
import { slidingLogKind } from './sliding-log/sliding-log.js';
import { slidingWindowKind } from './sliding-window/sliding-window.js';
import { tokenBucketKind } from './token-bucket/token-bucket.js';

export { type ConcurrencyOptions, type ConcurrencyPolicy, concurrency } from './concurrency/concurrency.js';
export { type FixedWindowOptions, type FixedWindowPolicy, fixedWindow } from './fixed-window/fixed-window.js';
export { type GcraOptions, type GcraPolicy, gcra } from './gcra/gcra.js';
export { type LeakyBucketOptions, type LeakyBucketPolicy, leakyBucket } from './leaky-bucket/leaky-bucket.js';
export { type SlidingLogOptions, type SlidingLogPolicy, slidingLog } from './sliding-log/sliding-log.js';
export {
  type SlidingWindowOptions,
  type SlidingWindowPolicy,
  slidingWindow,
} from './sliding-window/sliding-window.js';
export {
  type TokenBucketOptions,
  type TokenBucketPolicy,
  tokenBucket,
  tokenBucketOfRate,
} from './token-bucket/token-bucket.js';

/** In the order of documents, forms and tables. */
const policyKinds = [
  fixedWindowKind,
  slidingWindowKind,
  slidingLogKind,
  tokenBucketKind,
  gcraKind,
  leakyBucketKind,
  concurrencyKind,
] as const;

// The default export, because the public index exports all names of this file.
export default policyKinds;

import type { Picture } from './conformance.js';
import { SECOND } from './subject-parts.js';

/** `permits` at once, and as many more every `each` µs. */
export const inSteps = (permits: number, each: number): Picture => ({
  promise: (elapsed) => permits * (Math.floor(elapsed / each) + 1),
  step: each,
});

/** `burst` permits at once, and one more a second. */
export const onePerSecond = (burst: number): Picture => ({
  promise: (elapsed) => burst + elapsed / SECOND,
  step: 0,
});

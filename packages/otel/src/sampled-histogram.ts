import type { Attributes, Histogram } from '@opentelemetry/api';

/** A sample is taken after this time, ms, */
const EVERY_MS = 10;
/** or this number of values, whichever is first. It is a prime, so that a sample of alternating values contains all of them. */
const EVERY = 251;

/**
 * A sample of the values with the same attributes. A histogram takes 0.7 µs for each value, which is more than the rest of a decision
 * takes in a busy process.
 */
export class SampledHistogram {
  #sampledAt = Number.NEGATIVE_INFINITY;
  #left = EVERY;

  constructor(
    private readonly histogram: Histogram,
    readonly attributes: Attributes,
  ) {}

  /** Does the sample take the next value? @param now ms, as of `performance.now()` */
  takes(now: number): boolean {
    this.#left -= 1;
    if (this.#left > 0 && now - this.#sampledAt < EVERY_MS) return false;
    this.#left = EVERY;
    this.#sampledAt = now;
    return true;
  }

  record(value: number): void {
    this.histogram.record(value, this.attributes);
  }
}

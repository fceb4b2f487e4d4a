/** Length of a slot, ms. */
export const SLOT_MS = 10_000;
/** Slots that are kept: 15 minutes. */
export const SLOTS = 90;
/** A minute, and the slot under way. */
export const RECENT_SLOTS = 7;

/** How a call ended. A call that a failure policy decided also counts as `degraded`. */
export const RESULTS = ['allowed', 'denied', 'canceled', 'error', 'degraded'] as const;
export type Result = (typeof RESULTS)[number];

/** Calls in each slot, by result. Those that a failure policy decided are in `degraded`, and in their result. */
export type ResultCounts = Readonly<Record<Result, readonly number[]>>;

/** A value for each result. A literal: each call reads the rings. */
export const byResult = <T>(make: (result: Result) => T): Readonly<Record<Result, T>> => ({
  allowed: make('allowed'),
  denied: make('denied'),
  canceled: make('canceled'),
  error: make('error'),
  degraded: make('degraded'),
});

/** Counts calls by result in slots of 10 s. It has no clock: `advance` begins the next slots. */
export class ResultSlots {
  /** The slot under way. */
  #slot = 0;
  /** Each result has a ring of slots. Made at the first call. */
  #rings: Readonly<Record<Result, Float64Array>> | undefined;

  count(result: Result): void {
    this.#rings ??= byResult(() => new Float64Array(SLOTS));
    this.#rings[result][this.#slot]! += 1;
  }

  /** @param slots that have ended */
  advance(slots: number): void {
    for (let i = Math.min(slots, SLOTS); i > 0; i -= 1) {
      this.#slot = (this.#slot + 1) % SLOTS;
      for (const result of RESULTS) if (this.#rings !== undefined) this.#rings[result][this.#slot] = 0;
    }
  }

  /** The newest slot, which is under way, first; without the zeros at the end. */
  get counts(): ResultCounts {
    return byResult((result) => this.#counts(result));
  }

  #counts(result: Result): number[] {
    const counts: number[] = [];
    let length = 0;
    for (let age = 0; this.#rings !== undefined && age < SLOTS; age += 1) {
      const count = this.#rings[result][(this.#slot - age + SLOTS) % SLOTS]!;
      counts.push(count);
      if (count > 0) length = age + 1;
    }
    return counts.slice(0, length);
  }
}

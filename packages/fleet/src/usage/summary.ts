/** A key of a summary. Its true count lies in `[count - error, count]`. */
export interface Counted {
  readonly key: string;
  readonly count: number;
  readonly error: number;
  /** The policy that denied it last; undefined for a single policy, and where nothing is denied. */
  readonly policy?: string | undefined;
}

/** The estimates for the heaviest keys of a stream. */
export interface Summary {
  /** In no order. */
  readonly entries: readonly Counted[];
  /** The sum of all weights. */
  readonly total: number;
  /** No key without an entry has more. */
  readonly unlisted: number;
}

/** Keys of a summary: every key with more than a 256th of the total is among them. */
export const CAPACITY = 256;
/** Keys of one slot of the last minute, and of its list: a limiter has many slots. */
export const RECENT_KEYS = 16;

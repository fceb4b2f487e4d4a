// The part of all processes' reports that the page shows.

/** How long the processes of the store wait for its answers, ms. */
export interface RoundTrip {
  /** The median, ms. */
  readonly p50: number;
  /** The p99 of the slowest process, ms. */
  readonly p99: number;
  readonly processes: number;
}

/** Denials that the list lacks. */
export interface Reports {
  /** Denials that processes counted without their keys. */
  readonly omitted: number;
  /** The reason why processes cannot be followed, if the store refuses. */
  readonly problem: string | null;
}

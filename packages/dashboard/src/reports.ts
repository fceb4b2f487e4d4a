// What the page shows of the reports of all processes.

/** How long the processes of the store wait for its answers, ms. */
export interface RoundTrip {
  /** Half of the calls take less. */
  readonly p50: number;
  /** In the slowest process, 1 % of the calls take more. */
  readonly p99: number;
  readonly processes: number;
}

/** What is missing among the denials. */
export interface Reports {
  /** Denials that processes counted, and did not name. */
  readonly omitted: number;
  /** Why the processes cannot be followed, if the store refuses that. */
  readonly problem: string | null;
}

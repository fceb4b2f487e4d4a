/** Equal denials of one process within half a second: of one limiter, policy, key, cost and mode. */
export interface FleetDenial {
  /** When the last of them was made, by the store's clock; ms since 1970. */
  readonly at: number;
  readonly limiter: string;
  /** The policy that denied. */
  readonly policy: string;
  /** As it is stored (`decodeKey`); `#` and a hash (`hashKey`) if its process has the option `usage` with `keys: 'hash'`, the default. */
  readonly key: string;
  /** The cost of each of them, in permits. */
  readonly cost: number;
  /** How many they are. */
  readonly count: number;
  /** ms from `at` until the same call can pass; null: never. */
  readonly retryAfter: number | null;
  /** `shadow`: they were not enforced. */
  readonly mode: 'enforce' | 'shadow';
  /** Who decided: the store, the deny cache, or a failure policy. */
  readonly source: string;
  /** The store was out, and a failure policy decided. */
  readonly degraded: boolean;
}

/** What a process did since its last report. */
export interface DenialReport {
  /** Random id of its store object. */
  readonly process: string;
  readonly host: string;
  readonly pid: number;
  /** In the order in which their keys were denied first. */
  readonly denials: readonly FleetDenial[];
  /** Denials that it left out: a report has at most 100 that differ. */
  readonly omitted: number;
  /** How long it waited for its store in the last 2 s, ms; undefined in most reports. Of at most 1,000 calls. */
  readonly storeCalls: { readonly count: number; readonly p50: number; readonly p99: number } | undefined;
}

/** Raised when an older reader would misread a text. */
export const FORM = 1;

/** Equal denials of one process, since its last broadcast. */
export interface DenialText {
  readonly limiter: string;
  readonly policy: string;
  /** As it is stored, or its hash. */
  readonly key: string;
  readonly cost: number;
  readonly count: number;
  /** ms since the last of them. */
  readonly age: number;
  /** ms from the last of them until the same call can pass; null: never. */
  readonly retryAfter: number | null;
  /** Who decided. */
  readonly source: string;
  readonly shadow?: true;
  readonly degraded?: true;
}

/** How long a process waited for its store, ms. */
export interface CallsText {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

/** What a process broadcasts to its followers. */
export interface DenialsText {
  readonly form: typeof FORM;
  readonly host: string;
  readonly pid: number;
  readonly denials: readonly DenialText[];
  /** Denials that are not in the list, because it is full. */
  readonly omitted: number;
  /** Absent without a call. */
  readonly calls?: CallsText;
}

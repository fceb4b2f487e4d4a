/** What one policy says to a call. All times are whole milliseconds, rounded up: never too early. */
export interface PolicyDecision {
  /** The policy's name in `policies`; of a single policy the limiter's name. */
  readonly name: string;
  /** The permits that this call needs. */
  readonly cost: number;
  /** The most permits that can be taken at once. */
  readonly limit: number;
  /** Time in which `limit` permits come back: the window, or the time to fill an empty bucket. */
  readonly window: number;
  /** Whole permits left after this call. */
  readonly remaining: number;
  /**
   * Time until the same call can pass this policy if no other call comes; 0: it passes now; `Infinity`: never. For `concurrency` an estimate:
   * no call passes before a holder releases or a lease ends.
   */
  readonly retryAfter: number;
  /** Time until every permit is back. After an `acquire` that slept, it counts from the end of the sleep. */
  readonly resetAfter: number;
  /**
   * Time until more than `remaining` permits are left, if no other call comes: the end of a fixed window, the next permit of a bucket.
   * Sliding policies and `concurrency` report `resetAfter`. 0 if all permits are there.
   */
  readonly moreAfter: number;
  /** Its permits are held until released, as with `concurrency`. */
  readonly held?: true;
}

/**
 * The answer to a call. With several policies, the figures are those of the binding policy: the one with the longest wait, or with the
 * fewest permits left.
 *
 * `policies` and `moreAfter` are computed when they are read, so `{ ...decision }` does not copy them; `JSON.stringify` and `console.log`
 * show them. To copy them, name them: `{ ...decision, policies: decision.policies }`.
 */
export interface Decision extends Omit<PolicyDecision, 'held'> {
  /** May the call go? Always true for a decision that `acquire` resolves to. */
  readonly allowed: boolean;
  /** The limiter that decided. */
  readonly name: string;
  /** The name of the binding policy. */
  readonly policy: string;
  /** 0 if allowed. Otherwise the time until the same call can pass if no other call comes, for `concurrency` about; `Infinity`: never. */
  readonly retryAfter: number;
  /** How long `acquire` slept until the permits were due; 0 for all other calls. */
  readonly waited: number;
  /**
   * Where the decision was made: by the store, `'memory'` or `'redis'`; by a denial of the store in the `'deny-cache'`; by permits taken
   * before, `'prefetch'`; or, while the store is out, by the failure policy, `'local'`, `'allow'` or `'deny'`.
   */
  readonly source: string;
  /** The store was out, and the failure policy decided. */
  readonly degraded: boolean;
  /** Time until the key's block ends. Only with the option `escalate`, while a block denies the call. */
  readonly blockedFor?: number;
  /** The inputs of the decision. Only with `{ debug: true }`, and if the store or the `local` failure policy decided. */
  readonly debug?: DecisionDebug;
  /** The decision of each policy, in the order in which they were given. */
  readonly policies: readonly PolicyDecision[];
}

/** The inputs of a decision, as its store has them: `consume(key, { debug: true })`. Times are whole µs. */
export interface DecisionDebug {
  /** The moment of the decision on the store's clock: the Redis server's, or this process's. */
  readonly now: number;
  /** One entry per policy, in the order given. */
  readonly policies: readonly PolicyDebug[];
}

/** What one policy decided by. */
export interface PolicyDebug {
  readonly name: string;
  /** The storage key of the state. */
  readonly key: string;
  /** The policy's parameters by name; during an override the override's. */
  readonly numbers: Readonly<Record<string, number>>;
  /** They are the parameters of an override or of a shared rate. */
  readonly overridden: boolean;
  /** What the key had taken before and after the call. */
  readonly before: StateDebug;
  readonly after: StateDebug;
  /** Booked calls that wait for their moment. */
  readonly booked: readonly { readonly at: number; readonly cost: number }[];
  /** End of the key's block; 0 without one. */
  readonly blockedUntil: number;
}

/** The state of a key before or after a decision. */
export interface StateDebug {
  /** As stored: see the algorithm's `State` in its source. Empty if no earlier call counts any more. */
  readonly state: readonly number[];
  /** Whole permits left in this state, without the booked calls. */
  readonly remaining: number;
  /** Time until every permit is back. */
  readonly resetAfter: number;
  /** The state as people picture it: the level of a bucket, the calls in a window, the holders of permits. */
  readonly view: StateView;
}

/** A key's state as people picture it. Times are whole µs: moments on the store's clock since 1970, and lengths. */
export type StateView = BucketView | WindowView | LogView | HoldersView;

/** `tokenBucket`, `gcra`, `leakyBucket`. A leaky bucket is drawn upside down: permits missing here fill it. */
export interface BucketView {
  readonly kind: 'bucket';
  /** Permits of a full bucket. */
  readonly capacity: number;
  /** Permits that are there, also parts of one; below 0 after calls that borrowed, or a penalty. */
  readonly level: number;
  /** Permits that flow in per second. */
  readonly perSecond: number;
  /** They flow in at this moment, all at once; undefined if they flow steadily, or the bucket is full. */
  readonly nextBatch: number | undefined;
  /** When it is full. */
  readonly fullAt: number;
}

/** `fixedWindow`. */
export interface WindowView {
  readonly kind: 'window';
  readonly limit: number;
  /** Permits taken in the window. */
  readonly used: number;
  /** Undefined if no window has begun: the next call begins one. */
  readonly start: number | undefined;
  /** When the window ends. Undefined if none has begun. */
  readonly end: number | undefined;
}

/** `slidingLog`, `slidingWindow`. */
export interface LogView {
  readonly kind: 'log';
  readonly limit: number;
  /** Permits taken in the last `window`. */
  readonly used: number;
  readonly window: number;
  /** Length of a slot; 0 if each call is remembered by itself. */
  readonly slot: number;
  /** Permits in the window, in order of their moments; of a slot its end. They come back one `window` later. */
  readonly entries: readonly { readonly at: number; readonly permits: number }[];
}

/** `concurrency`. */
export interface HoldersView {
  readonly kind: 'holders';
  readonly limit: number;
  /** Permits that are held. */
  readonly held: number;
  /** In the order in which their leases end. */
  readonly holders: readonly LeaseView[];
  /** In the order of arrival. */
  readonly waiting: readonly LeaseView[];
}

/** A call that holds permits, or waits for them. */
export interface LeaseView {
  /** When the call was made. No other call of the key has the same. */
  readonly since: number;
  /** End of the lease if it is not renewed. */
  readonly until: number;
  readonly permits: number;
}

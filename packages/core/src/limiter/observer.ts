import { loadFleet } from '../board/watching.js';
import type { Answer, CallParts, Decider } from '../call/call.js';
import type { Decision } from '../decision.js';
import type { Store } from '../stores/store.js';

/**
 * What a limiter reports its calls to. `Admission` has at most one: none unless its store has the option `usage`, or a policy has thresholds.
 * Calls wait for these functions, so they are short and never throw.
 */
export interface CallObserver {
  /**
   * A `consume` or an `acquire` has a decision.
   * @param answer what the store said, in the order of the call's parts
   * @param shadow the caller does not enforce the decision
   */
  decided(call: CallParts, decision: Decision, answer: Answer, shadow: boolean): void;
  /**
   * A `consume` or an `acquire` rejects. A denial that rejects has its decision in the error.
   * @param canceled its signal was aborted, or its limiter was closed
   */
  failed(call: CallParts, error: unknown, shadow: boolean, canceled: boolean): void;
  /** Permits were taken without a decision, as a penalty. */
  charged(call: CallParts, answer: Answer): void;
  /** Of an observer that counts calls. */
  topKeys?(): TopKeys;
}

/** A key of a list. Its true count lies in `[count - error, count]`. */
export interface KeyCount {
  /** As it is stored, or its `hashKey`: at most 128 characters, and none that a terminal or a log line would interpret. */
  readonly key: string;
  /** Whose key it is: the member of a `CombinedLimiter`; in the limiter `(other)` the limiter, and then the member. */
  readonly scope?: string;
  /** The policy that denied it: the latest one, where it was denied most. Undefined if its limiter has a single policy, and in `costly`. */
  readonly policy?: string;
  readonly count: number;
  /** At most a 256th of all that was counted in the list. */
  readonly error: number;
}

/** The keys of a limiter that were denied most, and that took most; at most 256 each, the heaviest first. */
export interface TopKeys {
  /** By denied calls. */
  readonly denied: readonly KeyCount[];
  /** By calls in shadow mode, such as `dryRun`, that would have been denied. */
  readonly shadowDenied: readonly KeyCount[];
  /** By the permits that allowed calls took. A reservation counts its estimate, and refunds are not subtracted. */
  readonly costly: readonly KeyCount[];
  /** A key that is not in a list has at most this count there. */
  readonly unlisted: { readonly denied: number; readonly shadowDenied: number; readonly costly: number };
  /** How far back the counts go, ms: up to 15 minutes. */
  readonly span: number;
}

/** A part of the limit: `'80%'`, `'100%'`, `'99.5%'`. */
export type Threshold = `${number}%`;

/** Thresholds of the only policy; of several policies by their names. */
export type NotifyOptions = readonly Threshold[] | Readonly<Record<string, readonly Threshold[]>>;

/** A limiter that may be observed. */
export interface ObservedLimiter {
  readonly name: string;
  readonly decider: Decider;
  /** Whose keys it counts: its own; the keys of each member of a combination; none, if all calls have the same one. */
  readonly keys: 'own' | 'members' | 'none';
  /** Of a combination: the names of its limiters, by their names in it. */
  readonly members?: ReadonlyMap<string, string> | undefined;
  /** Has a policy thresholds to report? */
  readonly notifies: boolean;
}

/** What limiters use of `@sluice/fleet`. */
interface LimiterWatching {
  observe(store: Store, limiter: ObservedLimiter): CallObserver;
  readonly readNotify: typeof readNotify;
}

/** What observes a limiter; undefined if nothing does. */
export const observerOf = (store: Store, limiter: ObservedLimiter): CallObserver | undefined =>
  store.usage === undefined && !limiter.notifies
    ? undefined
    : loadFleet<LimiterWatching>(`Limiter '${limiter.name}'`).observe(store, limiter);

/**
 * The thresholds of each policy that has some, by its name: in hundredths of a percent, ascending.
 * @throws TypeError, RangeError for invalid thresholds
 */
export const readNotify = (
  where: string,
  notify: NotifyOptions | undefined,
  names: readonly string[],
  several: boolean,
): ReadonlyMap<string, readonly number[]> =>
  notify === undefined
    ? new Map()
    : loadFleet<LimiterWatching>(`${where}: notify`).readNotify(where, notify, names, several);

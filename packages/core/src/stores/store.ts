import type { FleetBoard } from '../board/board.js';
import type { SharedTexts } from '../board/shared-texts.js';
import type { StoreUsage } from '../board/watching.js';
import type { Answer, Call, Part } from '../call/call.js';
import type { Departure } from '../call/deadlines.js';
import type { PendingCall } from '../call/pending-call.js';
import type { Clock } from '../clock.js';
import type { StoredKey } from '../engine/entry.js';
import type { StoreHealth } from '../health/store-health.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { RateAnswer, RateChange } from './shared-rate.js';

/** The caller of a store. */
export interface StoreCaller {
  /** The caller has given up: a call that is not sent yet must not be sent. */
  readonly abandoned?: boolean;
  /** How long the caller waits, ms. */
  readonly deadline?: number | undefined;
}

/**
 * Where state lives and calls are decided, each atomically.
 *
 * The first five members are a store. Everything else belongs to facets, and is optional: leave it out at first.
 */
export interface Store extends Partial<WakingFacet>, Partial<SharedRateFacet> {
  /** For `decision.source` and error messages. */
  readonly name: string;
  /** On which clock a wait is slept. */
  readonly clock: Clock;
  /** Do answers come over a network, so that they may be late or lost? Then calls have a deadline. */
  readonly remote: boolean;
  /**
   * Decides one call: at once without a network.
   * @throws StoreUnavailableError, StoreConfigurationError, RateNotSetError
   */
  decide(call: Call, caller?: StoreCaller): MaybePromise<Answer>;
  /** Closes the connections that this store opened; a client of yours stays open. May be called twice. */
  close(): Promise<void>;

  // For a remote store: outages, connections, and calls that share a trip.

  /** While the store is out, limiters decide by their failure policies. Without it calls reject with the errors of the store. */
  readonly health?: StoreHealth | undefined;
  /** Modules that must load before the first call. No deadline counts that time. Rejects if they cannot be loaded. */
  readonly loading?: Promise<unknown> | undefined;
  /**
   * For a store that was never connected: the time until which calls wait for it, even beyond their deadline; ms of the monotonic clock.
   * Undefined once it is connected, or when that time is over.
   */
  readonly firstConnectionUntil?: number | undefined;
  /** Instead of `decide`, for a store that sends the calls of one turn together. Ends the call with `answered` or `failed`. */
  send?(call: PendingCall): Departure;
  /** Decides a call now, for `consumeSync`. @throws as `decide` does; an error with the reason `timeout` if it would have to wait */
  decideNow?(call: Call): Answer;
  /** The deadline of limiters that name none, ms. Default 100. */
  readonly usualDeadline?: number | undefined;
  /** Sets how long calls wait, ms, so that the store closes a silent connection neither too early nor too late. */
  expect?(deadline: number): void;
  /**
   * Connects now instead of at the first call. Rejects if the store is out or not set up correctly; it can then be called again.
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  connect?(): Promise<void>;

  // For a Redis Cluster.

  /** Must all keys of one call lie in one hash slot? */
  readonly slotted?: boolean | undefined;
  /** The node of a storage key, `host:port`; empty if it is not known. */
  nodeOf?(key: string): string;

  // For what processes know of each other: tools such as the command `sluice`, thresholds, and rules that are read from the store.

  /** Where its processes publish what they limit. */
  readonly fleet?: FleetBoard | undefined;
  /** Counts the calls of its limiters, if it was created with the option `usage`. */
  readonly usage?: StoreUsage | undefined;
  /**
   * Reads what it keeps of a part's key, for tools. Changes nothing.
   * @param of instead of its state: the denials that an escalation has counted
   * @throws RangeError for a value that is not ours; StoreUnavailableError, StoreConfigurationError
   */
  look?(part: Pick<Part, 'limit' | 'key'>, of?: 'escalation'): Promise<StoredKey>;
  /**
   * For the option `notify`: lets one process do something. Resolves to true for the first caller, and to false for others until `ms` are over.
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  claim?(key: string, ms: number): Promise<boolean>;
  /** What operators change for all processes: rules. */
  readonly texts?: SharedTexts;
}

/** For calls that wait. Without it they poll more often. */
export interface WakingFacet {
  /**
   * Subscribes to a storage key. Calls `granted` with the id of each waiting call that was admitted, and with `EVERYONE` if all waiting
   * calls should poll. Resolves, once subscribed, to a function that unsubscribes. A message may be lost, so a waiting call also polls.
   */
  listen(key: string, granted: (id: number) => void): Promise<() => void>;
}

/** For `SharedLimiter`. */
export interface SharedRateFacet {
  /** Changes or reads a shared rate; see `RateChange`. Resolves to the rate after it, and whether it was changed. */
  rate(change: RateChange, caller?: StoreCaller): Promise<RateAnswer>;
}

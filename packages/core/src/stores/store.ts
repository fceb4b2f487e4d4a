import type { Script } from '../algorithms/algorithm.js';
import type { FleetBoard } from '../board/board.js';
import type { StoreUsage } from '../board/watching.js';
import type { Answer, Call, Decider, Part } from '../call/call.js';
import type { Departure } from '../call/deadlines.js';
import type { PendingCall } from '../call/pending-call.js';
import { type Entry, expiryOf } from '../engine/entry.js';
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

/** What a store keeps of a key. */
export interface StoredKey {
  /** The moment of the look, µs of the store's clock. */
  readonly now: number;
  readonly entry: Entry | undefined;
  /** Until the store forgets the key, ms; undefined if it keeps nothing. */
  readonly timeToLive: number | undefined;
}

/** What is kept at the moment `now`: an entry that has expired no longer is. */
export function keptAt(now: number, entry: Entry | undefined): StoredKey {
  const left = entry === undefined ? 0 : Math.ceil((expiryOf(entry) - now) / 1000);
  return left > 0 ? { now, entry, timeToLive: left } : { now, entry: undefined, timeToLive: undefined };
}

/** Where state lives and calls are decided, each atomically. */
export interface Store extends Decider {
  /** For `decision.source` and error messages. */
  readonly name: string;
  /** Do answers come over a network, so that they may be late or lost? */
  readonly remote: boolean;
  /** Must all keys of one call lie in one hash slot, as in a Redis Cluster? */
  readonly slotted: boolean;
  /** Modules that must load before the first call. No deadline counts that time. Rejects if they cannot be loaded. */
  readonly loading?: Promise<unknown> | undefined;
  /**
   * For a remote store that was never connected: the time until which calls wait for it, even beyond their deadline; ms of the monotonic
   * clock. Undefined once it is connected, or when that time is over.
   */
  readonly firstConnectionUntil?: number | undefined;
  /** For a remote store: while it is out, limiters decide by their failure policies. */
  readonly health?: StoreHealth | undefined;
  /** Where its processes publish what they limit, for tools such as the command `sluice`. */
  readonly fleet?: FleetBoard | undefined;
  /** Counts the calls of its limiters, if it was created with the option `usage`. */
  readonly usage?: StoreUsage | undefined;
  /** For a cluster: the node of a storage key, `host:port`; empty if it is not known. */
  nodeOf?(key: string): string;
  /**
   * Decides one call: at once without a network.
   * @throws StoreUnavailableError, StoreConfigurationError, RateNotSetError
   */
  decide(call: Call, caller?: StoreCaller): MaybePromise<Answer>;
  /** Instead of `decide`, for a store that sends the calls of one turn together. Ends the call with `answered` or `failed`. */
  send?(call: PendingCall): Departure;
  /** Sets how long calls wait, ms, so that a remote store closes a silent connection neither too early nor too late. */
  expect?(deadline: number): void;
  /**
   * Reads what it keeps of a part's key, for tools. Changes nothing.
   * @param of instead of its state: the denials that an escalation has counted
   * @throws RangeError for a value that is not ours; StoreUnavailableError, StoreConfigurationError
   */
  look?(part: Pick<Part, 'limit' | 'key'>, of?: 'escalation'): Promise<StoredKey>;
  /**
   * Runs a script whose keys share a slot, for what processes share beside their counts. Connects if necessary. No decision waits for it.
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  run?(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /**
   * For the option `notify`: lets one process do something. Resolves to true for the first caller, and to false for others until `ms` are over.
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  claim?(key: string, ms: number): Promise<boolean>;
  /** Changes or reads a shared rate; see `RateChange`. Resolves to the rate after it, and whether it was changed. */
  rate(change: RateChange, caller?: StoreCaller): Promise<RateAnswer>;
  /**
   * Connects now instead of at the first call. Rejects if the store is out or not set up correctly; it can then be called again.
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  connect?(): Promise<void>;
  /** Closes the connections that this store opened; a client of yours stays open. May be called twice. */
  close(): Promise<void>;
}

import type { Answer, Call, Decider } from '../engine/call.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { Departure } from '../pipeline/deadlines.js';
import type { PendingCall } from '../pipeline/pending-call.js';
import type { RateAnswer, RateChange } from './shared-rate.js';
import type { StoreHealth } from './store-health.js';

/** Who waits for the answer of a store. */
export interface Asked {
  /** Nobody waits any more: what has not been sent yet must not be sent. */
  readonly abandoned?: boolean;
  /** How long somebody waits, in ms. */
  readonly deadline?: number | undefined;
}

/** Where state lives and calls are decided, each atomically. */
export interface Store extends Decider {
  /** For `decision.source` and error messages. */
  readonly name: string;
  /** Does an answer come over a network, so that it may be late or never come? */
  readonly remote: boolean;
  /** Must all keys of one call lie in one hash slot, as in a Redis Cluster? */
  readonly slotted: boolean;
  /** What this process has to load before the first call. No deadline counts that. Rejects if it cannot be loaded. */
  readonly loading?: Promise<unknown> | undefined;
  /**
   * For a remote store without a connection so far: until when calls wait for it, even beyond their deadline, in ms of the monotonic clock.
   * Undefined once it is connected, or when that time is over.
   */
  readonly firstConnectionUntil?: number | undefined;
  /** Of a remote store: whether it is well. While it is not, limiters decide by their failure policies. */
  readonly health?: StoreHealth | undefined;
  /** Of a cluster: the node that a storage key lives on, `host:port`; empty if it is not known. */
  nodeOf?(key: string): string;
  /**
   * Decides one call: at once if no network is in between.
   * @throws StoreUnavailableError, StoreConfigurationError, RateNotSetError
   */
  decide(call: Call, asked?: Asked): MaybePromise<Answer>;
  /** Instead of `decide`, for a store that sends the calls of one turn together. The call is told its answer or its error. */
  send?(call: PendingCall): Departure;
  /** Tells a remote store how long calls wait, in ms, so that its connections are given up neither too early nor too late. */
  expect?(deadline: number): void;
  /** Changes or reads a rate that the fleet shares; see `RateChange`. Answers the rate that holds afterwards, and whether this changed it. */
  rate(change: RateChange, asked?: Asked): Promise<RateAnswer>;
  /**
   * Connects now instead of at the first call. Rejects if the store is out or not set up correctly; it can then be called again.
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  connect?(): Promise<void>;
  /** Ends what this store itself opened; a client that was handed to it stays open. May be called twice. */
  close(): Promise<void>;
}

import type { Clock } from '../clock.js';
import type { Answer, Call } from '../engine/call.js';
import type { StoreUnavailableError } from '../errors.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { Asking } from '../pipeline/asking.js';
import type { RateAnswer, RateChange } from './shared-rate.js';
import type { StoreHealth } from './store-health.js';

/** The time of a call that may ask more than once. */
export interface CallBudget {
  /** Is the time over? */
  readonly over: boolean;
  /** Starts the time, unless it has started already. */
  begin(): void;
  /** Begins the next stage of the call. `late` runs when the time is over, or at once if it is. */
  stage(late: () => void): void;
  /** Resolves when the promise has settled or the time is over. */
  until(promise: Promise<unknown>): Promise<void>;
  /** Ends the call. */
  end(): void;
}

/** What somebody waits for. */
export interface Asked {
  /** Set by whoever stopped waiting for the answer: what has not left yet must not leave any more. */
  abandoned?: boolean;
  /** How long that is, in ms, if it ends by itself. */
  readonly deadline?: number | undefined;
  /** Time limit of a call that may ask more than once. */
  readonly budget?: CallBudget | undefined;
}

/** Decides while a store is out. */
export interface Fallback {
  /** Decides in place of the store. @throws `error` if no failure policy applies, or the error of the failure policy */
  decide(call: Call, error: StoreUnavailableError): Answer;
  /**
   * Calls `listener` each time the store, or the node of `key`, goes out, and at once if it is out. @returns a function that removes the
   * listener
   */
  onOutage(key: string, listener: (error: StoreUnavailableError) => void): () => void;
}

/** Where state lives and calls are decided, each atomically. Layers have this same shape, so they stack. */
export interface Store {
  /** For `decision.source` and error messages. */
  readonly name: string;
  /** Does an answer come over a network, so that it may be late or never come? */
  readonly remote: boolean;
  /** Must all keys of one call lie in one hash slot, as in a Redis Cluster? */
  readonly slotted: boolean;
  /** What this process has to load before it can ask at all; no deadline counts that. Rejects when it cannot be had. */
  readonly loading?: Promise<unknown> | undefined;
  /**
   * For a remote store without a connection so far: until when calls wait for it, even beyond their deadline, in ms of the monotonic clock.
   * Undefined once it is connected, or when that time is over.
   */
  readonly firstConnectionUntil?: number | undefined;
  /** Of a remote store: whether it is well. Limiters ask it no more while it is not, and decide by their failure policies. */
  readonly health?: StoreHealth | undefined;
  /** Creates the time limit of a call that may ask more than once. Undefined without deadlines. */
  readonly budget?: (() => CallBudget) | undefined;
  /** Decides while the store is out, if failure policies are in use. */
  readonly fallback?: Fallback | undefined;
  /** Of a cluster: which node a key lives on, `host:port`; empty where that is not known. */
  nodeOf?(key: string): string;
  /** On which clock a wait is slept. */
  readonly clock: Clock;
  /**
   * Decides one call, at once where no network is in between. Calls of one turn may be joined into one trip: each has its own answer all the same.
   * @throws StoreUnavailableError, StoreConfigurationError, RateNotSetError
   */
  decide(call: Call, asked?: Asked): MaybePromise<Answer>;
  /** The same without a promise, as no layer needs one of its own. Throws nothing. */
  ask?(asking: Asking): void;
  /**
   * Subscribes to `key`. Calls `granted` with the id of each waiting call that was admitted, and with `EVERYONE` if all waiting calls should
   * poll. Resolves, once subscribed, to a function that unsubscribes. A message may be lost, so a waiting call also polls.
   */
  listen(key: string, granted: (id: number) => void): Promise<() => void>;
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

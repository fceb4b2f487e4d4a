import type { Clock } from '../clock.js';
import type { Answer, Call } from '../decisions/call.js';
import type { StoreUnavailableError } from '../errors.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { RateAnswer, RateChange } from '../shared-rates/stored-rate.js';
import type { Asking } from './asking.js';
import type { StoreHealth } from './store-health.js';

/** The time of a call that may ask more than once. */
export interface CallBudget {
  /** Has the time passed? */
  readonly over: boolean;
  /** From now on the time runs. No harm when it does already. */
  begin(): void;
  /** The next stage of the call: `late` is called when the time has passed, at once if it has. */
  stage(late: () => void): void;
  /** Resolves when the promise has settled or the time has passed. */
  until(promise: Promise<unknown>): Promise<void>;
  /** The call is over. */
  end(): void;
}

/** What somebody waits for. */
export interface Asked {
  /** Set by whoever stopped waiting for the answer: what has not left yet must not leave any more. */
  abandoned?: boolean;
  /** How long that is, in ms, if it ends by itself. */
  readonly deadline?: number | undefined;
  /** Of a call that may ask more than once. */
  readonly budget?: CallBudget | undefined;
}

/** What decides while a store is out. */
export interface Fallback {
  /** Answers a decision in place of the store. @throws `error` when no failure policy answers the call; what a failure policy throws */
  decide(call: Call, error: StoreUnavailableError): Answer;
  /**
   * Calls `listener` when the store, or the node that `key` lives on, is known to be out: at once if it is, and each time that it goes
   * out. @returns what ends that
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
   * Of a remote store that has never been connected: until when calls wait for that, whatever their deadline, in ms of the monotonic clock.
   * Undefined once it is connected, or has been waited for long enough.
   */
  readonly firstConnectionUntil?: number | undefined;
  /** Of a remote store: whether it is well. Limiters ask it no more while it is not, and decide by their failure policies. */
  readonly health?: StoreHealth | undefined;
  /** For a call that may ask more than once: the time for all of it, where calls have a deadline. */
  readonly budget?: (() => CallBudget) | undefined;
  /** What decides while it is out, where something does. */
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
   * Calls `granted` when one of those who wait at `key` has been let in, with its id, until the function it resolves to is called; with
   * `EVERYONE` when all who wait should look again. Resolves when it listens. A message may be lost: a waiting call also looks by itself.
   */
  listen(key: string, granted: (id: number) => void): Promise<() => void>;
  /** Changes or reads a rate that the fleet shares; see `RateChange`. Answers the rate that holds afterwards, and whether this changed it. */
  rate(change: RateChange, asked?: Asked): Promise<RateAnswer>;
  /**
   * Does now what the first call would otherwise have to do. Rejects when the store is out or set up wrongly, and can then be called again.
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  connect?(): Promise<void>;
  /** Ends what this store itself opened; a client that was handed to it stays open. May be called twice. */
  close(): Promise<void>;
}

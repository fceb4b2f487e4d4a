import type { Operation, Rule } from '../algorithms/algorithm.js';
import type { Clock } from '../clock.js';

/** One question to a store: what to ask of which key. Plain enough to be collected with others and sent in one trip. */
export interface Call extends Asked {
  /** Where the state lives: already encoded and prefixed. */
  readonly key: string;
  readonly rule: Rule;
  readonly operation: Operation;
  readonly cost: number;
  /** µs; see `Question`. */
  readonly maxWait: number;
  /** µs; see `Question`. */
  readonly at: number;
}

/** What somebody waits for. */
export interface Asked {
  /** Set by whoever stopped waiting for the answer: what has not left yet must not leave any more. */
  abandoned?: boolean;
}

/** What a store answers. Times are whole µs of the store's clock. */
export interface Answer {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Until the permits are due (allowed) or a retry can pass (denied); `NEVER`. */
  readonly wait: number;
  readonly reset: number;
  /** The moment of the decision. */
  readonly now: number;
}

/** Where state lives and calls are decided, each atomically. Layers have this same shape, so they stack. */
export interface Store {
  /** For `decision.source` and error messages. */
  readonly name: string;
  /** Does an answer come over a network, so that it may be late or never come? */
  readonly remote: boolean;
  /** What this process has to load before it can ask at all; no deadline counts that. Rejects when it cannot be had. */
  readonly loading?: Promise<unknown> | undefined;
  /** On which clock a wait is slept. */
  readonly clock: Clock;
  /**
   * Decides one call. Calls of one turn may be joined into one trip: each has its own answer all the same.
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  decide(call: Call): Promise<Answer>;
  /** Forgets a key. */
  reset(key: string, asked?: Asked): Promise<void>;
  /** Ends what this store itself opened; a client that was handed to it stays open. May be called twice. */
  close(): Promise<void>;
}

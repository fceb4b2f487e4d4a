import { performance } from 'node:perf_hooks';
import type { StoreUnavailableError } from '../errors.js';

/** Node's own: under a fake one a breaker would never close again. */
const { setTimeout, clearTimeout } = globalThis;

/** So many failures in a row, none of them by the way of another, say that a store is out. */
const FAILURES = 5;
/** ms until the first look whether it is back, doubled with each that finds it is not. */
const FIRST_LOOK = 100;
const LONGEST_LOOK = 1_000;

/** What a call must show when it is over: when it was let in. */
export type Ticket = number;
/** The one call that finds out whether a store that answers again also decides again. */
const TRIAL: Ticket = -1;

/** Who is told when a breaker opens and closes. */
export interface BreakerListener {
  opened(error: StoreUnavailableError): void;
  /** @param after ms since it opened */
  closed(after: number): void;
}

/**
 * A circuit breaker: lets calls through to a store while it answers, and none while it is known to be out, so that nobody waits for
 * what will not come. It opens after `FAILURES` in a row. Then it looks by itself, at growing and jittered intervals, whether the store
 * answers again; if so, one call of a user is let through, and if that is decided all are.
 */
export class Breaker {
  readonly #listener: BreakerListener;
  #state: 'closed' | 'open' | 'half-open' | 'trial' | 'ended' = 'closed';
  #failures = 0;
  /** Grows with every failure that counts: a call that was let in before the last of them failed along with it. */
  #mark: Ticket = 0;
  #looks = 0;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #error: StoreUnavailableError | undefined;
  readonly #waiting = new Set<(error: StoreUnavailableError) => void>();

  constructor(listener: BreakerListener) {
    this.#listener = listener;
  }

  /** By what it is open; undefined when it lets the next call through. */
  get error(): StoreUnavailableError | undefined {
    return this.#state === 'open' || this.#state === 'trial' ? this.#error : undefined;
  }

  /** Calls `listener` whenever the breaker opens, and at once if it is open. @returns a function that removes the listener */
  onOpen(listener: (error: StoreUnavailableError) => void): () => void {
    this.#waiting.add(listener);
    if (this.error !== undefined) listener(this.error);
    return () => this.#waiting.delete(listener);
  }

  /** False while the store is out, and while a trial call checks it again. */
  get closed(): boolean {
    return this.#state === 'closed';
  }

  /** To be called where `error` is undefined. */
  enter(): Ticket {
    if (this.#state !== 'half-open') return this.#mark;
    this.#state = 'trial';
    return TRIAL;
  }

  succeeded(ticket: Ticket): void {
    this.#failures = 0;
    if (ticket === TRIAL && this.#state === 'trial') this.#close();
  }

  /** What it stood for is served by another: it has no part in that any more. */
  replaced(): void {
    if (this.#state === 'open') this.#close();
  }

  /** @param look asks the store for an answer that changes nothing; rejects when there is none */
  failed(ticket: Ticket, error: StoreUnavailableError, look: () => Promise<unknown>): void {
    this.#error = error;
    if (this.#state === 'trial' && ticket === TRIAL) this.#open(look);
    if (this.#state !== 'closed') return;
    // What one lost connection took with it is one failure; each deadline that passed is one of its own.
    if (ticket !== this.#mark && !error.late) return;
    this.#mark += 1;
    this.#failures += 1;
    if (this.#failures < FAILURES) return;
    this.#looks = 0;
    this.#since = performance.now();
    this.#open(look);
    this.#listener.opened(error);
  }

  /** Looks no more. */
  end(): void {
    this.#state = 'ended';
    clearTimeout(this.#timer);
  }

  #close(): void {
    this.#state = 'closed';
    this.#error = undefined;
    this.#listener.closed(Math.round(performance.now() - this.#since));
  }

  #open(look: () => Promise<unknown>): void {
    this.#state = 'open';
    this.#failures = 0;
    const longest = Math.min(LONGEST_LOOK, FIRST_LOOK * 2 ** this.#looks);
    this.#looks += 1;
    for (const listener of [...this.#waiting]) listener(this.#error!);
    // A fleet that lost its store at one moment must not come back to it at one moment.
    const wait = longest * (0.5 + Math.random() / 2);
    this.#timer = setTimeout(() => {
      look().then(
        () => {
          if (this.#state === 'open') this.#state = 'half-open';
        },
        () => {
          if (this.#state === 'open') this.#open(look);
        },
      );
    }, wait).unref();
  }
}

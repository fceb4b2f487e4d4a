import { hasBackground, performance } from '#platform';
import { StoreUnavailableError } from '../errors.js';
import { clearTimeout, setTimeout } from '../runtime.js';

/** Failures in a row, each with a cause of its own, that open the circuit. */
const FAILURES = 5;
/** ms until the first probe; doubled with each that fails. */
const FIRST_PROBE = 100;
const LONGEST_PROBE = 1_000;

/** Tells when a call was let in. */
export type Ticket = number;
/** The ticket of the one call that tests whether a store that answers again also decides again. */
const TRIAL: Ticket = -1;

export interface CircuitListener {
  opened(error: StoreUnavailableError): void;
  /** @param after ms since it opened */
  closed(after: number): void;
}

/**
 * A circuit breaker: lets calls through to a store while it answers, and none while it is known to be out, so that no call waits in
 * vain. It opens after `FAILURES` in a row. Then it probes the store in the background, at growing and jittered intervals. Once a probe
 * is answered, one call is let through, and if the store decides that call, all are. Where code may not run between requests, the next call
 * after the interval takes the place of the probe.
 */
export class Circuit {
  #state: 'closed' | 'open' | 'half-open' | 'trial' | 'ended' = 'closed';
  #failures = 0;
  /** The ticket of calls let in now. Each counted failure starts a new one: calls with an older ticket failed for the same cause. */
  ticket: Ticket = 0;
  #probes = 0;
  #openedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Why it is open; undefined if it lets the next call through. */
  error: StoreUnavailableError | undefined;
  /** Without a background: when the next call is let through. */
  #tryAt = 0;
  #lastError: StoreUnavailableError | undefined;
  readonly #openListeners = new Set<(error: StoreUnavailableError) => void>();

  constructor(private readonly listener: CircuitListener) {}

  /** Calls `listener` whenever the circuit opens, and at once if it is open. @returns a function that removes the listener */
  onOpen(listener: (error: StoreUnavailableError) => void): () => void {
    this.#openListeners.add(listener);
    if (this.error !== undefined) listener(this.error);
    return () => this.#openListeners.delete(listener);
  }

  /** Without a background: lets one call through if it is time for that, in place of a probe. Only while `error` is set. */
  letsTry(): boolean {
    if (hasBackground || performance.now() < this.#tryAt) return false;
    this.#state = 'half-open';
    this.error = undefined;
    return true;
  }

  /** False while the store is out, and while a trial call tests it. */
  get closed(): boolean {
    return this.#state === 'closed';
  }

  /** Lets a call in. Only while `error` is undefined. */
  enter(): Ticket {
    if (this.#state !== 'half-open') return this.ticket;
    this.#state = 'trial';
    this.error = this.#lastError;
    // The request of the trial call may end before its answer.
    this.#tryAt = performance.now() + LONGEST_PROBE;
    return TRIAL;
  }

  succeeded(ticket: Ticket): void {
    this.#failures = 0;
    if (ticket === TRIAL && this.#state === 'trial') this.#close();
  }

  /** Another node serves the keys of this one, so an open circuit has no meaning any more. */
  replaced(): void {
    if (this.#state === 'open') this.#close();
  }

  /** @param probe a call to the store that changes nothing; rejects with a StoreUnavailableError if there is none */
  failed(ticket: Ticket, error: StoreUnavailableError, probe: () => Promise<unknown>): void {
    this.#lastError = error;
    if (this.#state === 'trial' && ticket === TRIAL) this.#open(probe);
    if (this.#state !== 'closed') return;
    // All calls that a lost connection took with it are one failure; each missed deadline is one of its own.
    if (ticket !== this.ticket && !error.late) return;
    this.ticket += 1;
    this.#failures += 1;
    if (this.#failures < FAILURES) return;
    this.#probes = 0;
    this.#openedAt = performance.now();
    this.#open(probe);
    this.listener.opened(error);
  }

  /** Stops probing, and lets all calls through. */
  end(): void {
    this.#state = 'ended';
    this.error = undefined;
    clearTimeout(this.#timer);
  }

  #close(): void {
    this.#state = 'closed';
    this.error = undefined;
    this.listener.closed(Math.round(performance.now() - this.#openedAt));
  }

  #open(probe: () => Promise<unknown>): void {
    this.#state = 'open';
    this.error = this.#lastError;
    this.#failures = 0;
    const longest = Math.min(LONGEST_PROBE, FIRST_PROBE * 2 ** this.#probes);
    this.#probes += 1;
    for (const listener of [...this.#openListeners]) listener(this.#lastError!);
    // The processes of a fleet that lost their store together must not come back together.
    const wait = longest * (0.5 + Math.random() / 2);
    this.#tryAt = performance.now() + wait;
    if (!hasBackground) return;
    this.#timer = setTimeout(() => {
      probe().then(
        () => {
          if (this.#state !== 'open') return;
          this.#state = 'half-open';
          this.error = undefined;
        },
        (error: StoreUnavailableError) => {
          if (this.#state !== 'open') return;
          this.#lastError = error;
          this.#open(probe);
        },
      );
    }, wait).unref();
  }
}

/** Without the last full stop, as in answers of Redis: more words follow. */
export const withoutStop = (message: string): string => message.replace(/\.$/, '');

/** The error of a call while the circuit is open. */
export function whileOpen(error: StoreUnavailableError): StoreUnavailableError {
  const { message, reason } = error;
  return new StoreUnavailableError(
    `${withoutStop(message)}; the store is out, and calls are not sent until it answers again`,
    { reason, neverSent: true, cause: error },
  );
}

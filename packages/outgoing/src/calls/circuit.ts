import { onAbort } from '@sluice/core/internal';
import type { PauseReason } from '../pauses/pause.js';
import type { Pauses } from '../pauses/pauses.js';
import { backoff, LONGEST_BACKOFF } from './retry-rules.js';
import { UPSTREAM } from './scopes.js';
import type { WaitLimits } from './time.js';

/** Overloads in a row, each of a call that was sent after the one before, that open the circuit. */
const FAILURES = 5;
const WOKEN = new Error('The state of the circuit has changed');

/** The right of one call to pass. */
export interface CircuitPass {
  /** Overloads counted before. A call with an older number failed for a cause that is counted already. */
  readonly counted: number;
  /** Does this call alone try whether the upstream serves again? */
  readonly isTrial: boolean;
}

/** What became of a call. `other`: it was not sent, or its response says nothing of the upstream's health. */
export type Outcome = 'served' | 'other' | PauseReason;

/**
 * The circuit of an upstream in this process. Overloads that state no time open it: calls wait for an exponential delay with full jitter, as of a pause
 * of the upstream that only this process has. Then one call tries. The others follow when it is served; if not, the delay doubles.
 */
export class Circuit {
  #failures = 0;
  #counted = 0;
  /** Delays since the upstream last served a call; 0: the circuit is closed. */
  #delays = 0;
  #hasTrial = false;
  /** ms since 1970: a trial without a response so far lets another call try. */
  #trialUntil = 0;
  readonly #waiting = new Set<() => void>();

  constructor(readonly pauses: Pauses) {}

  /** Waits while another call tries. @throws the signal's reason; `tooLate()` after the deadline */
  async enter(limits: WaitLimits, tooLate: () => Error): Promise<CircuitPass> {
    while (this.#delays > 0 && this.#hasTrial && this.pauses.now < this.#trialUntil) {
      if (this.pauses.now >= limits.deadline) throw tooLate();
      await this.#change(limits);
    }
    const isTrial = this.#delays > 0;
    if (isTrial) {
      this.#hasTrial = true;
      this.#trialUntil = this.pauses.now + LONGEST_BACKOFF;
    }
    return { counted: this.#counted, isTrial };
  }

  /** The right of a call that is sent now: overloads before this count as its own past. */
  sent(pass: CircuitPass): CircuitPass {
    return { ...pass, counted: this.#counted };
  }

  /** May a call still be sent? Not if the circuit opened while it waited for something else. */
  isValid({ isTrial }: CircuitPass): boolean {
    return isTrial || this.#delays === 0;
  }

  /** The call has ended. */
  leave({ counted, isTrial }: CircuitPass, outcome: Outcome): void {
    if (isTrial) this.#hasTrial = false;
    if (outcome === 'served') {
      if (isTrial) this.#delays = 0;
      this.#failures = 0;
    } else if (outcome !== 'other') this.#failed(counted, isTrial, outcome);
    if (isTrial) for (const wake of [...this.#waiting]) wake();
  }

  #failed(counted: number, isTrial: boolean, why: PauseReason): void {
    if (!isTrial) {
      if (this.#delays > 0 || counted !== this.#counted) return;
      this.#counted += 1;
      this.#failures += 1;
      if (this.#failures < FAILURES) return;
    }
    this.#failures = 0;
    this.#delays += 1;
    const ms = backoff(this.#delays, Math.random());
    this.pauses.pauseHere(UPSTREAM, this.pauses.now + ms, why);
  }

  /** Resolves when the trial is over, or has taken too long. */
  async #change({ deadline, signal }: WaitLimits): Promise<void> {
    const stop = new AbortController();
    const ignore = onAbort(signal, () => stop.abort(signal!.reason));
    const wake = () => stop.abort(WOKEN);
    this.#waiting.add(wake);
    try {
      const until = Math.min(deadline, this.#trialUntil);
      await this.pauses.sleep(until - this.pauses.now, stop.signal);
    } catch (error) {
      if (error !== WOKEN) throw error;
    } finally {
      ignore();
      this.#waiting.delete(wake);
    }
  }
}

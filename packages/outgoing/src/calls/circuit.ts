import { Stop } from '@sluice/core/internal';
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
  /** The number of the trial that this call is: it alone tries whether the upstream serves again. 0: it is none. */
  readonly trial: number;
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
  #trials = 0;
  /** The number of the trial that runs; 0: none does. */
  #trial = 0;
  /** ms since 1970: a trial without a response so far lets another call try. */
  #trialUntil = 0;
  /** Calls that wait for the end of the trial, in the order of their arrival. */
  readonly #waiting = new Set<() => void>();

  constructor(readonly pauses: Pauses) {}

  /**
   * Waits while another call tries. Undefined: it tried in vain, and a delay has begun.
   * @throws the signal's reason; `tooLate()` after the deadline
   */
  enter(
    limits: WaitLimits,
    tooLate: () => Error,
  ): CircuitPass | undefined | Promise<CircuitPass | undefined> {
    return this.#isTried ? this.#enterLater(limits, tooLate) : this.#pass();
  }

  get #isTried(): boolean {
    return this.#delays > 0 && this.#trial > 0 && this.pauses.now < this.#trialUntil;
  }

  async #enterLater(limits: WaitLimits, tooLate: () => Error): Promise<CircuitPass | undefined> {
    try {
      while (this.#isTried) {
        if (this.pauses.now >= limits.deadline) throw tooLate();
        await this.#change(limits);
      }
      return this.pauses.remembered([UPSTREAM]) === undefined ? this.#pass() : undefined;
    } finally {
      // One call wakes the next until one tries, so that they do not wake for nothing.
      if (!this.#isTried) this.#wakeNext();
    }
  }

  #pass(): CircuitPass {
    if (this.#delays === 0) return { counted: this.#counted, trial: 0 };
    this.#trials += 1;
    this.#trial = this.#trials;
    this.#trialUntil = this.pauses.now + LONGEST_BACKOFF;
    return { counted: this.#counted, trial: this.#trial };
  }

  /** The right of a call that is sent now: overloads before this count as its own past. */
  sent({ trial }: CircuitPass): CircuitPass {
    return { counted: this.#counted, trial };
  }

  /** May a call still be sent? Not if the circuit opened while it waited for something else. */
  isValid({ trial }: CircuitPass): boolean {
    return trial > 0 || this.#delays === 0;
  }

  /** The call has ended. */
  leave({ counted, trial }: CircuitPass, outcome: Outcome): void {
    const isTrial = trial > 0 && trial === this.#trial;
    if (isTrial) this.#trial = 0;
    if (outcome === 'served') {
      // Also if another call tries by now, because this one took too long.
      if (trial > 0) this.#delays = 0;
      this.#failures = 0;
    } else if (outcome !== 'other') this.#failed(counted, isTrial, outcome);
    if (!this.#isTried) this.#wakeNext();
  }

  #wakeNext(): void {
    const [wake] = this.#waiting;
    if (wake === undefined) return;
    this.#waiting.delete(wake);
    wake();
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
    const stop = new Stop(signal);
    const wake = () => stop.abort(WOKEN);
    this.#waiting.add(wake);
    try {
      const until = Math.min(deadline, this.#trialUntil);
      await this.pauses.sleep(until - this.pauses.now, stop.signal);
    } catch (error) {
      if (error !== WOKEN) throw error;
    } finally {
      stop.end();
      this.#waiting.delete(wake);
    }
  }
}

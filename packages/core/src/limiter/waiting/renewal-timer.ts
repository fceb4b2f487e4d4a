import { Agenda, type Appointment } from '../../agenda.js';
import type { Clock } from '../../clock.js';

/** Why a sleep ends early: an earlier moment was added, or the timer is closed. */
const WOKEN = new Error('The renewal timer was woken');

/**
 * Runs something at moments of a clock, with one sleep at a time: permits are held and released far more often than a lease is renewed.
 * A removed moment wakes nothing, so the last sleep may outlast all entries; it does not keep the process alive.
 */
export class RenewalTimer<T> {
  readonly #agenda = new Agenda<T>();
  /** When the present sleep ends. */
  #until = Number.POSITIVE_INFINITY;
  #sleep: AbortController | undefined;

  constructor(
    readonly clock: Clock,
    private readonly run: (value: T) => void,
  ) {}

  add(at: number, value: T): Appointment<T> {
    const added = this.#agenda.add(at, value);
    if (this.#sleep === undefined) void this.#start();
    else if (at < this.#until) this.#sleep.abort(WOKEN);
    return added;
  }

  remove(appointment: Appointment<T>): void {
    this.#agenda.remove(appointment);
  }

  /** Call it when nothing is left. */
  close(): void {
    this.#sleep?.abort(WOKEN);
  }

  async #start(): Promise<void> {
    for (let next = this.#agenda.first; next !== undefined; next = this.#agenda.first) {
      this.#sleep = new AbortController();
      this.#until = next.at;
      const pause = Math.max(0, next.at - this.clock.now());
      await this.clock.sleep(pause, this.#sleep.signal, { idle: true }).then(
        () => this.#runDue(),
        (reason) => {
          if (reason !== WOKEN) throw reason;
        },
      );
    }
    this.#sleep = undefined;
  }

  #runDue(): void {
    const now = this.clock.now();
    for (let next = this.#agenda.first; next !== undefined && next.at <= now; next = this.#agenda.first) {
      this.#agenda.remove(next);
      this.run(next.value);
    }
  }
}

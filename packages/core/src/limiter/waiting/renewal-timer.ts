import { Agenda, type Appointment } from '../../agenda.js';
import type { Clock } from '../../clock.js';

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
    else if (at < this.#until) this.#sleep.abort();
    return added;
  }

  remove(appointment: Appointment<T>): void {
    this.#agenda.remove(appointment);
  }

  /** Call it when nothing is left. */
  close(): void {
    this.#sleep?.abort();
  }

  async #start(): Promise<void> {
    for (let next = this.#agenda.first; next !== undefined; next = this.#agenda.first) {
      const sleep = new AbortController();
      this.#sleep = sleep;
      this.#until = next.at;
      try {
        await this.clock.sleep(Math.max(0, next.at - this.clock.now()), sleep.signal, { idle: true });
      } catch {
        if (sleep.signal.aborted) continue;
        // A clock that cannot sleep renews nothing: leases end by themselves, and calls that wait get its error.
        break;
      }
      this.#runDue();
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

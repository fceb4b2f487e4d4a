import { hasBackground } from '#platform';
import { type Clock, unref } from '../../clock.js';

const EVERY_MS = 1000;

/** Removes expired keys every second while there are keys. Keeps no process alive. */
export class Sweeper {
  readonly #clock: Clock;
  readonly #sweep: (now: number) => number;
  #timer: NodeJS.Timeout | undefined;
  /** Without a timer: µs of the clock. */
  #sweptAt = 0;

  /** @param sweep removes expired keys; returns how many keys are left */
  constructor(clock: Clock, sweep: (now: number) => number) {
    this.#clock = clock;
    this.#sweep = sweep;
  }

  /** There are keys. */
  start(now: number): void {
    if (hasBackground) this.#timer ??= unref(setInterval(() => this.#run(this.#clock.now()), EVERY_MS));
    else if (now - this.#sweptAt >= EVERY_MS * 1000) {
      this.#sweptAt = now;
      queueMicrotask(() => this.#run(now)); // the table must not change within a decision
    }
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #run(now: number): void {
    if (this.#sweep(now) === 0) this.end();
  }
}

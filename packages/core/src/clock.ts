import { process } from '#platform';
import { type Duration, toMicros } from './duration.js';

/** The source of time. In tests, pass a `ManualClock` to `memoryStore({ clock })` instead of waiting. */
export interface Clock {
  /** Whole microseconds since some fixed moment. */
  now(): number;
  /**
   * Resolves after `micros`; rejects with the reason of `signal` if it is aborted first. An `idle` wait does not keep the process
   * alive.
   */
  sleep(micros: number, signal?: AbortSignal, options?: { readonly idle?: boolean }): Promise<void>;
  /** µs by which the latest sleeps of this process ended late. `acquire` takes its default `margin` from it. Default: 0. */
  lateness?(): number;
}

/** µs: the lateness of a process that has just started, which is slow at first. */
export const FIRST_LATENESS = 50_000;
/** Each sleep that ends less late lowers the lateness by 1 part in 32. */
const FADING = 32;
let lateness = FIRST_LATENESS;

/** ms; a longer timer fires at once. */
export const LONGEST_TIMER = 2_147_483_647;

/**
 * ms from the first call of a store until it must be connected and have answered. Calls wait that long for it, even if their deadline
 * is shorter: the first call of a new process pays for the connection, the login and the script.
 */
export const FIRST_CONNECTION_MS = 2_000;

/** Lets the process end before the timer. A browser's timer is a number and keeps nothing alive. */
export function unref<T extends object>(timer: T): T {
  (timer as { unref?(): void }).unref?.();
  return timer;
}

/** µs since 1970 at which `process.hrtime` counts from 0. */
let origin = 0;

/** The process's monotonic clock, so a change of the machine's time changes nothing here. */
export const systemClock: Clock = {
  now() {
    // Faster than `performance.now`. Looked up at each call, so that fake timers of a test reach it.
    const [seconds, nanos] = process.hrtime();
    return origin + seconds * 1_000_000 + Math.floor(nanos / 1000);
  },

  async sleep(micros, signal, { idle = false } = {}) {
    signal?.throwIfAborted();
    const due = systemClock.now() + micros;
    // A timer may fire a little early, and lasts at most 24.8 days.
    for (let left = micros; left > 0; left = due - systemClock.now()) {
      const ms = Math.min(Math.ceil(left / 1000), LONGEST_TIMER);
      await abortable(signal, (wake) => {
        const timer = setTimeout(wake, ms);
        if (idle) unref(timer);
        return () => clearTimeout(timer);
      });
    }
    if (micros > 0) lateness = Math.max(systemClock.now() - due, lateness - Math.ceil(lateness / FADING));
  },

  lateness: () => lateness,
};

origin = Math.floor(performance.timeOrigin * 1000 + performance.now() * 1000 - systemClock.now());

/**
 * Resolves when `wake` is called; rejects with the reason of `signal` if it is aborted first.
 * @param begin starts the wait; returns a function that ends it early
 */
function abortable(signal: AbortSignal | undefined, begin: (wake: () => void) => () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const cancel = begin(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    const abort = () => {
      cancel();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** A clock that you move by hand, for tests. */
export class ManualClock implements Clock {
  #now: number;
  #sleepers: { due: number; wake: () => void }[] = [];

  /** @param start the first moment, in microseconds; default 2025-01-01T00:00:00Z */
  constructor(start = 1_735_689_600_000_000) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  /** Moves time forward and wakes the sleeps that end by then, in the order in which they end. */
  async advance(duration: Duration): Promise<void> {
    const end = this.#now + toMicros('advance', duration, 0);
    await settled(); // calls that are about to sleep do so first
    for (;;) {
      const next = this.#sleepers.sort((a, b) => a.due - b.due)[0];
      if (next === undefined || next.due > end) break;
      this.#sleepers.shift();
      this.#now = Math.max(this.#now, next.due);
      next.wake();
      await settled();
    }
    this.#now = end;
    await settled();
  }

  /** Sets the time, also backwards. Wakes no sleeping call. */
  set(micros: number): void {
    this.#now = micros;
  }

  sleep(micros: number, signal?: AbortSignal): Promise<void> {
    return abortable(signal, (wake) => {
      const sleeper = { due: this.#now + micros, wake };
      this.#sleepers.push(sleeper);
      return () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
      };
    });
  }
}

/** Resolves after all ready promises have run. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

import process from 'node:process';
import { type Duration, toMicros } from './duration.js';

/** Where time comes from. Injected through `memoryStore({ clock })`, so that tests need not wait. */
export interface Clock {
  /** Whole microseconds since some fixed moment. */
  now(): number;
  /**
   * Resolves when `micros` have passed; rejects with the signal's reason when it is aborted first. A wait that is `idle`
   * does not keep the process alive.
   */
  sleep(micros: number, signal?: AbortSignal, options?: { readonly idle?: boolean }): Promise<void>;
}

/** ms; a timer of more fires at once. */
export const LONGEST_TIMER = 2_147_483_647;

/** µs since 1970 at which `process.hrtime` counts from 0. */
const ORIGIN = Math.floor(performance.timeOrigin * 1000 + performance.now() * 1000 - hrtimeMicros());

/** The process's monotonic clock, so a change of the machine's time changes nothing here. */
export const systemClock: Clock = {
  now: () => ORIGIN + hrtimeMicros(),

  async sleep(micros, signal, { idle = false } = {}) {
    signal?.throwIfAborted();
    const due = systemClock.now() + micros;
    // Timers may fire a little early and hold 24.8 days at the most: look again until the moment has really come.
    for (let left = micros; left > 0; left = due - systemClock.now()) {
      await timer(Math.min(Math.ceil(left / 1000), LONGEST_TIMER), idle, signal);
    }
  },
};

/** Faster than `performance.now`. Looked up at each call, so that fake timers of a test reach it. */
function hrtimeMicros(): number {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1_000_000 + Math.floor(nanos / 1000);
}

function timer(ms: number, idle: boolean, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const handle = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    // Otherwise someone awaits this moment; an abort or `close()` ends it.
    if (idle) handle.unref();
    const stop = () => {
      clearTimeout(handle);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** A clock that stands still until it is told to move. For tests, yours and ours. */
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

  /** Moves time on and lets those whose moment has come run, in the order of their moments. */
  async advance(duration: Duration): Promise<void> {
    const end = this.#now + toMicros('advance', duration, 0);
    await settled(); // those who are about to sleep fall asleep first
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

  /** Sets the time, backwards too, and wakes nobody. */
  set(micros: number): void {
    this.#now = micros;
  }

  sleep(micros: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const sleeper = {
        due: this.#now + micros,
        wake: () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        },
      };
      this.#sleepers.push(sleeper);
      const stop = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', stop, { once: true });
    });
  }
}

/** Lets everything that is ready run: the promises that a wake-up settles, and those that they settle. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

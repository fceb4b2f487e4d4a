import type { Clock } from '@sluice/core';
import { Agenda, isPromise } from '@sluice/core/internal';

interface Due {
  readonly run: () => unknown;
  /** Does it wake callers? They continue in promises, and can sleep again. */
  readonly wakes: boolean;
}

/** A clock that a log moves. On the way, tasks run at their own moments: ends of requests, renewals of leases. */
export class ReplayClock implements Clock {
  #now = 0;
  readonly #due = new Agenda<Due>();

  now(): number {
    return this.#now;
  }

  /** Runs `task` when the clock reaches its moment. */
  at(time: number, run: () => unknown): void {
    this.#due.add(time, { run, wakes: false });
  }

  sleep(micros: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const wake = () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const due = this.#due.add(this.#now + micros, { run: wake, wakes: true });
      const abort = () => {
        this.#due.remove(due);
        reject(signal!.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Moves forward, never back. @returns a promise only if a task or a woken call is asynchronous */
  moveTo(time: number): Promise<void> | undefined {
    for (let next = this.#due.first; next !== undefined && next.at <= time; next = this.#due.first) {
      this.#due.remove(next);
      if (next.at > this.#now) this.#now = next.at;
      const ran = next.value.run();
      if (isPromise(ran)) return ran.then(() => this.moveTo(time));
      if (next.value.wakes) return new Promise<void>(setImmediate).then(() => this.moveTo(time));
    }
    if (time > this.#now) this.#now = time;
    return undefined;
  }
}

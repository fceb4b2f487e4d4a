import type { Clock } from '@sluice/core';

interface Due {
  readonly at: number;
  /** Of equals the first goes first. */
  readonly order: number;
  readonly run: () => unknown;
  cancelled: boolean;
}

/** A clock that a log moves. What is due on the way happens at its own moment: ends of requests, renewals of leases. */
export class ReplayClock implements Clock {
  #now = 0;
  #count = 0;
  /** A heap: the first one due at 0, the children of `i` at `2i + 1` and `2i + 2`. */
  readonly #due: Due[] = [];

  now(): number {
    return this.#now;
  }

  /** Runs `task` when the clock gets there. */
  at(time: number, run: () => unknown): Due {
    this.#count += 1;
    const due = { at: time, order: this.#count, run, cancelled: false };
    this.#add(due);
    return due;
  }

  sleep(micros: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const due = this.at(this.#now + micros, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      const abort = () => {
        due.cancelled = true;
        reject(signal!.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Moves forward, never back. @returns a promise only if something is due on the way */
  moveTo(time: number): Promise<void> | undefined {
    const heap = this.#due;
    while (heap.length > 0 && heap[0]!.cancelled) this.#removeFirst();
    if (heap.length > 0 && heap[0]!.at <= time) return this.#runUntil(time);
    if (time > this.#now) this.#now = time;
    return undefined;
  }

  async #runUntil(time: number): Promise<void> {
    for (let next = this.#due[0]; next !== undefined && next.at <= time; next = this.#due[0]) {
      this.#removeFirst();
      if (next.cancelled) continue;
      if (next.at > this.#now) this.#now = next.at;
      await next.run();
      // What a sleep wakes goes on in promises, and may sleep again.
      await new Promise(setImmediate);
    }
    if (time > this.#now) this.#now = time;
  }

  #add(due: Due): void {
    const heap = this.#due;
    let at = heap.length;
    while (at > 0 && isBefore(due, heap[(at - 1) >> 1]!)) {
      heap[at] = heap[(at - 1) >> 1]!;
      at = (at - 1) >> 1;
    }
    heap[at] = due;
  }

  #removeFirst(): void {
    const heap = this.#due;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

const isBefore = (one: Due, other: Due): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

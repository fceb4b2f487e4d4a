import type { LogRequest } from './log/log-request.js';

/** The most buffered requests: a few MB. */
const MOST = 50_000;
/** From this length on, the removed front is cut off. */
const CUT = 1_000;

/** Puts requests into the order of their times. Servers write a line when a request ends, so lines are a little out of order. */
export class InOrder {
  #waiting: LogRequest[] = [];
  /** Index of the first buffered request. */
  #front = 0;
  #newest = 0;
  /** Time of the last request that was returned. */
  #left = 0;
  /** Requests that arrived too late to be sorted. */
  late = 0;

  /** @param within how far a line may be out of order, µs */
  constructor(
    readonly within: number,
    readonly most = MOST,
  ) {}

  add(request: LogRequest): void {
    const waiting = this.#waiting;
    const { time } = request;
    if (time < this.#left) this.late += 1;
    if (time > this.#newest) this.#newest = time;
    let at = waiting.length;
    if (at > this.#front && waiting[at - 1]!.time > time) at = this.#placeOf(time);
    if (at === waiting.length) waiting.push(request);
    else waiting.splice(at, 0, request);
  }

  /** The next request that no later line can precede; after the `end` of the log any. */
  next(end = false): LogRequest | undefined {
    const first = this.#waiting[this.#front];
    if (first === undefined) return undefined;
    const full = this.#waiting.length - this.#front > this.most;
    if (!end && !full && first.time > this.#newest - this.within) return undefined;
    this.#front += 1;
    if (this.#front >= CUT && this.#front * 2 >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#front);
      this.#front = 0;
    }
    if (first.time > this.#left) this.#left = first.time;
    return first;
  }

  /** Inserts a request behind the requests of the same time. */
  #placeOf(time: number): number {
    let [low, high] = [this.#front, this.#waiting.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#waiting[middle]!.time <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The most parts into which a log's time is divided: enough for a plot. */
const MOST = 240;
const FIRST_WIDTH = 1_000_000;

/** Requests and denials over the time of the log. */
export interface OverTime {
  /** Start of the first part, ms since 1970. */
  readonly start: number;
  /** Length of a part, ms. */
  readonly width: number;
  readonly requests: readonly number[];
  readonly denied: readonly number[];
}

/** Counts in equal parts of time, in bounded memory: their length grows with the log. */
export class TimeSeries {
  #width = FIRST_WIDTH;
  /** Number of the first part since 1970. */
  #first = 0;
  #requests: number[] = [];
  #denied: number[] = [];

  /** @param time µs; never before the last one */
  add(time: number, denied: boolean): void {
    if (this.#requests.length === 0) this.#first = Math.floor(time / this.#width);
    while (Math.floor(time / this.#width) - this.#first >= MOST) this.#widen();
    const at = Math.floor(time / this.#width) - this.#first;
    while (this.#requests.length <= at) {
      this.#requests.push(0);
      this.#denied.push(0);
    }
    this.#requests[at]! += 1;
    if (denied) this.#denied[at]! += 1;
  }

  get overTime(): OverTime {
    const width = this.#width / 1000;
    return { start: this.#first * width, width, requests: this.#requests, denied: this.#denied };
  }

  #widen(): void {
    const first = Math.floor(this.#first / 2);
    const merged = (counts: readonly number[]) => {
      const sums: number[] = [];
      counts.forEach((count, i) => {
        const at = Math.floor((this.#first + i) / 2) - first;
        sums[at] = (sums[at] ?? 0) + count;
      });
      return sums;
    };
    this.#requests = merged(this.#requests);
    this.#denied = merged(this.#denied);
    this.#first = first;
    this.#width *= 2;
  }
}

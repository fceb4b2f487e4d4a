import { performance } from 'node:perf_hooks';

/** Node's own: a fake one that never fires would leave all later waits without an end. */
const { setTimeout } = globalThis;

/** Somebody who waits, and not for ever. */
interface Waiting {
  /** ms, of the monotonic clock. */
  readonly due: number;
  readonly expire: () => void;
}

/**
 * Deadlines that are all as long: they come in the order in which they began, so one timer, for the first of them, does for all.
 * It keeps the process alive only while somebody waits.
 */
export class Deadlines {
  readonly #ms: number;
  /** In the order of their moments. */
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** @returns what ends the wait before its time; no harm afterwards */
  begin(expire: () => void): () => void {
    const one = { due: performance.now() + this.#ms, expire };
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#look(), this.#ms);
    else if (this.#waiting.size === 0) this.#timer.ref();
    this.#waiting.add(one);
    return () => {
      if (this.#waiting.delete(one) && this.#waiting.size === 0) this.#timer?.unref();
    };
  }

  #look(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const one of this.#waiting) {
      if (one.due > now) {
        this.#timer = setTimeout(() => this.#look(), Math.ceil(one.due - now));
        return;
      }
      this.#waiting.delete(one);
      one.expire();
    }
  }
}

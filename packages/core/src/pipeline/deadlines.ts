import { performance } from 'node:perf_hooks';

/** Node's own: a fake one that never fires would leave all later waits without an end. */
const { setTimeout, setImmediate } = globalThis;

/** ms; a timer that is later than this was kept waiting by the process itself. */
const BUSY = 5;

/** Somebody who waits, and not for ever: himself a link of the list of all who do, so that to wait costs next to nothing. */
export interface Timed {
  /** ms, of the monotonic clock. 0 while it is in no list. */
  due: number;
  /** Has it been given more time once? */
  spared: boolean;
  before: Timed | undefined;
  after: Timed | undefined;
  /** The time has passed. */
  expire(): void;
}

/** Somebody who waits, of whom nothing else is known. */
export const timed = (expire: () => void): Timed => ({
  due: 0,
  spared: false,
  before: undefined,
  after: undefined,
  expire,
});

/**
 * Deadlines of equal length. They end in the order in which they started, so one timer for the first is enough. It keeps the process
 * alive only while a call waits.
 */
export class Deadlines {
  readonly #ms: number;
  /** In the order of their moments. */
  #first: Timed | undefined;
  #last: Timed | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** @param until earliest end, ms of the monotonic clock; never less than in the call before */
  begin(one: Timed, until = 0): void {
    one.due = Math.max(performance.now() + this.#ms, until);
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#look(), this.#ms);
    else if (this.#first === undefined) this.#timer.ref();
    one.before = this.#last;
    if (this.#last === undefined) this.#first = one;
    else this.#last.after = one;
    this.#last = one;
  }

  /** Ends a wait before its time; no harm afterwards. */
  end(one: Timed): void {
    if (this.#leave(one) && this.#first === undefined) this.#timer?.unref();
  }

  #leave(one: Timed): boolean {
    if (one.due === 0) return false;
    const { before, after } = one;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    one.due = 0;
    one.before = undefined;
    one.after = undefined;
    return true;
  }

  #look(): void {
    const late = performance.now() - (this.#first?.due ?? Number.POSITIVE_INFINITY);
    if (late > BUSY) this.#spare(Math.min(late, this.#ms));
    // What has come while this process was busy is read before anybody is told that nothing came.
    setImmediate(() => this.#expire());
  }

  /**
   * Time for which this process itself stood still was not the store's: whoever is overdue, or has not even left, has so much more.
   * Once only, or in a process that is always late nobody would ever be told.
   */
  #spare(ms: number): void {
    const due = performance.now() + ms;
    for (let one = this.#first; one !== undefined && one.due < due; one = one.after) {
      if (one.spared) continue;
      one.due = due;
      one.spared = true;
    }
  }

  #expire(): void {
    const now = performance.now();
    // The timer that is over stays until the end: somebody who is told may begin another wait, which must not set one of its own.
    for (let one = this.#first; one !== undefined && one.due <= now; one = this.#first) {
      this.#leave(one);
      one.expire();
    }
    const next = this.#first;
    this.#timer = next && setTimeout(() => this.#look(), Math.max(1, Math.ceil(next.due - now)));
  }
}

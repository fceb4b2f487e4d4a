import { getOrCreate, onAbort } from '@sluice/core/internal';
import type { WaitLimits } from './time.js';

/** The work of a call in a queue, and how long it may wait. */
export interface QueuedWork<T> {
  readonly limits: WaitLimits;
  work(): Promise<T>;
  /** How long the work has waited in the store, ms. */
  waitedOf(done: T): number;
  /** The error if the call's turn does not come before its deadline. */
  tooLate(): Promise<Error>;
}

interface Waiting {
  readonly priority: number;
  readonly start: () => void;
}

/** Calls that go on at once at first. */
const FIRST = 4;
/** ms; longer waits in the store take places away: a limit that changes concerns only calls without a booking. */
const LONG = 500;
/** ms; shorter waits give more places, so that the way to the store limits no rate. */
const SHORT = 100;

/**
 * Lets some calls of a process go on at once; others wait here, the highest priority first. In the store nothing can be overtaken, and
 * a booking keeps its moment, so calls that wait long there have few places.
 */
export class CallQueue {
  #running = 0;
  #places: number;
  /** By descending priority, equal ones in the order of their arrival. */
  readonly #waiting: Waiting[] = [];

  /**
   * @param most places at any time
   * @param now ms since 1970
   * @param ended called when no call runs or waits
   */
  constructor(
    readonly most: number,
    readonly now: () => number,
    readonly ended: () => void,
  ) {
    this.#places = Math.min(FIRST, most);
  }

  /** @throws the signal's reason; `tooLate()` */
  async run<T>(priority: number, queued: QueuedWork<T>): Promise<T> {
    if (this.#running < this.#places) this.#running += 1;
    else await this.#wait(priority, queued);
    try {
      queued.limits.signal?.throwIfAborted();
      const done = await queued.work();
      this.#fit(queued.waitedOf(done));
      return done;
    } finally {
      this.#running -= 1;
      while (this.#running < this.#places && this.#waiting.length > 0) {
        this.#running += 1;
        this.#waiting.shift()!.start();
      }
      if (this.#running === 0) this.ended();
    }
  }

  #fit(waited: number): void {
    if (waited > LONG) this.#places = Math.max(Math.min(FIRST, this.most), this.#places - 1);
    else if (waited < SHORT) this.#places = Math.min(this.most, this.#places + 1);
  }

  #wait(priority: number, { limits: { deadline, signal }, tooLate }: QueuedWork<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        end();
      };
      const late = () => {
        leave();
        tooLate().then(reject, reject);
      };
      const timer = setTimeout(late, Math.max(0, Math.min(deadline - this.now(), 2 ** 31 - 1)));
      const ignore = onAbort(signal, () => {
        leave();
        reject(signal!.reason);
      });
      const end = () => {
        clearTimeout(timer);
        ignore();
      };
      const start = () => {
        end();
        resolve();
      };
      const waiting: Waiting = { priority, start };
      this.#insert(waiting);
    });
  }

  #insert(waiting: Waiting): void {
    let [low, high] = [0, this.#waiting.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#waiting[middle]!.priority >= waiting.priority) low = middle + 1;
      else high = middle;
    }
    this.#waiting.splice(low, 0, waiting);
  }
}

/** A queue for each key, while calls are in it. */
export class CallQueues {
  readonly #queues = new Map<string, CallQueue>();

  /** As of `CallQueue`. */
  constructor(
    readonly most: number,
    readonly now: () => number,
  ) {}

  /** As `CallQueue.run`. */
  run<T>(key: string, priority: number, queued: QueuedWork<T>): Promise<T> {
    const create = () => new CallQueue(this.most, this.now, () => this.#queues.delete(key));
    return getOrCreate(this.#queues, key, create).run(priority, queued);
  }
}

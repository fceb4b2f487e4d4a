import { onAbort } from '@sluice/core/internal';
import type { WaitLimits } from './time.js';

interface Waiting {
  readonly priority: number;
  readonly start: () => void;
}

/**
 * Lets some calls of a process go on at once; others wait here, those of the highest priority first. The places of a queue in the store are few, and
 * there nothing can be overtaken.
 */
export class CallQueue {
  #running = 0;
  /** By descending priority, equal ones in the order of their arrival. */
  readonly #waiting: Waiting[] = [];

  constructor(readonly most: number) {}

  get isEmpty(): boolean {
    return this.#running === 0 && this.#waiting.length === 0;
  }

  /** @throws the signal's reason; `tooLate()` if the call's turn does not come before its deadline */
  async run<T>(
    priority: number,
    limits: WaitLimits & { readonly now: () => number; readonly tooLate: () => Error },
    work: () => Promise<T>,
  ): Promise<T> {
    limits.signal?.throwIfAborted();
    if (this.#running < this.most) this.#running += 1;
    else await this.#wait(priority, limits);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next.start();
    }
  }

  #wait(
    priority: number,
    {
      deadline,
      signal,
      now,
      tooLate,
    }: WaitLimits & { readonly now: () => number; readonly tooLate: () => Error },
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (why: () => unknown) => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        end();
        reject(why());
      };
      const timer = setTimeout(() => leave(tooLate), Math.max(0, Math.min(deadline - now(), 2 ** 31 - 1)));
      const ignore = onAbort(signal, () => leave(() => signal!.reason));
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

  constructor(readonly most: number) {}

  async run<T>(key: string, ...rest: Parameters<CallQueue['run']>): Promise<T> {
    const queue = this.#queues.get(key) ?? new CallQueue(this.most);
    this.#queues.set(key, queue);
    try {
      return (await queue.run(...rest)) as T;
    } finally {
      if (queue.isEmpty && this.#queues.get(key) === queue) this.#queues.delete(key);
    }
  }
}

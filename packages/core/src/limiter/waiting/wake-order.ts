import { hasBackground } from '#platform';
import type { Clock } from '../../clock.js';

/** µs. If the two clocks differ by so much more for one call than for another, the store's clock jumped between the two decisions. */
const CLOCK_JUMP = 1_000_000;

interface Waiting {
  /** When the store admits the call: µs of the store's clock. */
  readonly moment: number;
  /** The same moment in µs of this process's clock. */
  readonly due: number;
  ready: boolean;
  go(): void;
}

/** Resolves the waiting calls of one key in the order of their moments. Timers that are close fire in any order, and replies arrive so. */
export class WakeOrder {
  readonly #queues = new Map<string, Waiting[]>();

  /** No call waits. */
  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /**
   * Resolves after `micros`, once no call with an earlier moment waits. Rejects with the signal's reason.
   * @param queue calls with the same name are ordered among each other
   * @param moment µs of the store's clock
   */
  wait(queue: string, moment: number, micros: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (micros === 0 && !this.#queues.has(queue)) return Promise.resolve();
    // An earlier call may be of another request, which can end without waking this one.
    if (!hasBackground) return clock.sleep(micros, signal);
    return new Promise((resolve, reject) => {
      const waiting = { moment, due: clock.now() + micros, ready: micros === 0, go: resolve };
      this.#add(queue, waiting);
      if (waiting.ready) {
        this.#wake(queue);
        return;
      }
      clock.sleep(micros, signal).then(
        () => {
          waiting.ready = true;
          this.#wake(queue);
        },
        (reason) => {
          reject(reason);
          const all = this.#queues.get(queue)!;
          all.splice(all.indexOf(waiting), 1);
          this.#wake(queue);
        },
      );
    });
  }

  #add(queue: string, waiting: Waiting): void {
    const all = this.#queues.get(queue) ?? [];
    this.#queues.set(queue, all);
    let place = all.length;
    while (place > 0 && isBefore(waiting, all[place - 1]!)) place -= 1;
    all.splice(place, 0, waiting);
  }

  #wake(queue: string): void {
    const all = this.#queues.get(queue)!;
    let ready = 0;
    while (all[ready]?.ready === true) ready += 1;
    for (const { go } of all.splice(0, ready)) go();
    if (all.length === 0) this.#queues.delete(queue);
  }
}

const isBefore = (a: Waiting, b: Waiting): boolean =>
  Math.abs(a.due - a.moment - (b.due - b.moment)) > CLOCK_JUMP ? a.due < b.due : a.moment < b.moment;

import { hasBackground } from '#platform';
import type { Clock } from '../../clock.js';

/** µs. If the two clocks differ by so much more for one call than for another, the store's clock jumped between the two decisions. */
const CLOCK_JUMP = 1_000_000;
/** µs for which a distance between the two clocks is believed: clocks that are set right drift apart. */
const BELIEVED = 2_000_000;

interface Waiting {
  /** When the store admits the call: µs of the store's clock. */
  readonly moment: number;
  /** The same moment in µs of this process's clock. */
  readonly due: number;
  ready: boolean;
  go(): void;
}

/**
 * How far the clock of this process is ahead of the store's, by answers. Each was on its way for a while, and a busy process read it late:
 * the least distance of the latest ones is nearest to the truth, and never below it.
 */
class ClockDistance {
  /** Since when `#least` is measured, µs of this process's clock. */
  #since = Number.NEGATIVE_INFINITY;
  #least = 0;
  /** The least of the time before. */
  #before = 0;

  /** @param distance by the answer that was read at `now`, µs @returns the least */
  read(now: number, distance: number): number {
    const age = now - this.#since;
    if (age > 2 * BELIEVED || Math.abs(distance - this.#least) > CLOCK_JUMP) {
      this.#since = now;
      this.#before = distance;
      this.#least = distance;
    } else if (age > BELIEVED) {
      this.#since = now;
      this.#before = this.#least;
      this.#least = distance;
    } else this.#least = Math.min(this.#least, distance);
    return Math.min(this.#before, this.#least);
  }
}

/** Resolves the waiting calls of one key in the order of their moments. Timers that are close fire in any order, and replies arrive so. */
export class WakeOrder {
  readonly #queues = new Map<string, Waiting[]>();
  readonly #distance = new ClockDistance();

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
      const now = clock.now();
      const due = Math.max(now, moment + this.#distance.read(now, now + micros - moment));
      const waiting = { moment, due, ready: micros === 0, go: resolve };
      this.#add(queue, waiting);
      if (waiting.ready) {
        this.#wake(queue);
        return;
      }
      clock.sleep(due - now, signal).then(
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

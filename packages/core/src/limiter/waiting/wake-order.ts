import { hasBackground } from '#platform';
import type { Clock } from '../../clock.js';
import { getOrCreate } from '../../maps.js';

/** µs. If the two clocks differ by so much more for one call than for another, the store's clock jumped between the two decisions. */
const CLOCK_JUMP = 1_000_000;
/** µs for which a distance between the two clocks is believed: clocks that are set right drift apart. */
const BELIEVED = 2_000_000;
/** µs. An answer that seems later than this was given by a clock that was set, so that the distance before it says nothing. */
const LATEST = 200_000;

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
    const isFirst = age > 2 * BELIEVED || Math.abs(distance - this.#least) > LATEST;
    if (isFirst || age > BELIEVED) {
      this.#since = now;
      this.#before = isFirst ? distance : this.#least;
      this.#least = distance;
    } else this.#least = Math.min(this.#least, distance);
    return Math.min(this.#before, this.#least);
  }
}

/** The waiting calls of one key, whose node of a cluster has a clock of its own. */
class Queue {
  readonly distance = new ClockDistance();
  /** In the order of their moments. */
  readonly calls: Waiting[] = [];

  add(waiting: Waiting): void {
    const { calls } = this;
    let place = calls.length;
    while (place > 0 && isBefore(waiting, calls[place - 1]!)) place -= 1;
    calls.splice(place, 0, waiting);
  }

  /** Lets the calls go that wait for no earlier one. */
  wake(): void {
    let ready = 0;
    while (this.calls[ready]?.ready === true) ready += 1;
    for (const { go } of this.calls.splice(0, ready)) go();
  }
}

/** Resolves the waiting calls of one key in the order of their moments. Timers that are close fire in any order, and replies arrive so. */
export class WakeOrder {
  readonly #queues = new Map<string, Queue>();

  /** No call waits. */
  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /**
   * Resolves when `micros` have passed since the answer, once no call with an earlier moment waits. Rejects with the signal's reason.
   * @param name calls with the same name are ordered among each other
   * @param moment µs of the store's clock
   */
  wait(name: string, moment: number, micros: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (micros === 0 && !this.#queues.has(name)) return Promise.resolve();
    // An earlier call may be of another request, which can end without waking this one.
    if (!hasBackground) return clock.sleep(micros, signal);
    return new Promise((resolve, reject) => {
      const queue = getOrCreate(this.#queues, name, () => new Queue());
      const now = clock.now();
      const due = Math.max(now, moment + queue.distance.read(now, now + micros - moment));
      const waiting = { moment, due, ready: micros === 0, go: resolve };
      queue.add(waiting);
      const wake = () => {
        queue.wake();
        if (queue.calls.length === 0) this.#queues.delete(name);
      };
      if (waiting.ready) {
        wake();
        return;
      }
      clock.sleep(due - now, signal).then(
        () => {
          waiting.ready = true;
          wake();
        },
        (reason) => {
          reject(reason);
          queue.calls.splice(queue.calls.indexOf(waiting), 1);
          wake();
        },
      );
    });
  }
}

const isBefore = (a: Waiting, b: Waiting): boolean =>
  Math.abs(a.due - a.moment - (b.due - b.moment)) > CLOCK_JUMP ? a.due < b.due : a.moment < b.moment;

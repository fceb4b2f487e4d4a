import { performance } from '#platform';
import { setTimeout } from '../../native-timers.js';

/** ms that a store waits for answers when it closes: some calls have a long deadline, and some have none. */
const LONGEST = 5_000;
/** ms between two looks whether calls still wait. */
const EVERY = 5;

/** A script call without a reply. */
export interface Trip {
  /** All its callers have an answer or an error, perhaps because their time is over. */
  isOver(): boolean;
  /** Ends the calls that still wait. */
  failed(error: unknown): void;
}

/** The script calls of a store that have no reply yet. */
export class UnderWay {
  /** New calls are refused. */
  isClosed = false;
  readonly #trips = new Set<Trip>();

  begin(trip: Trip): void {
    this.#trips.add(trip);
  }

  end(trip: Trip): void {
    this.#trips.delete(trip);
  }

  /**
   * Refuses new calls. Resolves when no call waits any more.
   * @param tooLong the error of a call that has waited too long
   */
  async close(tooLong: () => Error): Promise<void> {
    this.isClosed = true;
    const end = performance.now() + LONGEST;
    const waiting = () => [...this.#trips].filter((trip) => !trip.isOver());
    while (waiting().length > 0 && performance.now() < end)
      await new Promise((resolve) => setTimeout(resolve, EVERY));
    for (const trip of waiting()) trip.failed(tooLong());
  }
}

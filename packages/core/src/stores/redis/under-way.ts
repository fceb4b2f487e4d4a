import { performance } from '#platform';
import { setTimeout } from '../../runtime.js';

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

/**
 * Resolves when none of the script calls waits any more.
 * @param trips that have no reply yet
 * @param tooLong the error of a call that has waited too long
 */
export async function allOver(trips: readonly Trip[], tooLong: () => Error): Promise<void> {
  const end = performance.now() + LONGEST;
  const waiting = () => trips.filter((trip) => !trip.isOver());
  while (waiting().length > 0 && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, EVERY));
  for (const trip of waiting()) trip.failed(tooLong());
}

import type { Answer, Call, Part } from '../engine/call.js';
import type { StoreUnavailableError } from '../errors.js';
import { andThen, type MaybePromise } from '../maybe-promise.js';
import type { Store } from '../stores/store.js';

/** An answer that came from another than the store that was asked. */
export interface StandInAnswer extends Answer {
  /** Who answered: what was taken there is renewed and given back there. */
  readonly by: Store;
  /** Why the store itself did not, if it was asked. */
  readonly error?: StoreUnavailableError;
}

export const isStandIn = (answer: Answer): answer is StandInAnswer =>
  (answer as Partial<StandInAnswer>).by !== undefined;

/** An answer of a failure policy. */
export interface DegradedAnswer extends StandInAnswer {
  readonly error: StoreUnavailableError;
}

export const isDegraded = (answer: Answer): answer is DegradedAnswer =>
  (answer as Partial<StandInAnswer>).error !== undefined;

/** What the failure policy that has decided one call says to another. */
export const alike = ({ by, error }: DegradedAnswer, call: Call): MaybePromise<DegradedAnswer> =>
  andThen(by.decide(call), (answer) => ({ ...answer, by, error }));

/** Gives back what a failure policy took for an answer that is not used. */
export async function undo(
  { by, allowed, queued, parts }: DegradedAnswer,
  asked: readonly Part[],
): Promise<void> {
  if (!allowed && !queued) return;
  await by.decide({
    operation: 'refund',
    wait: 0,
    parts: asked.map((part, i) => ({ ...part, at: parts[i]!.at })),
  });
}

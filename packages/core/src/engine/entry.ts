import type { Parameters, State } from '../algorithms/algorithm.js';

/**
 * What a store keeps of a key: an algorithm's state alone, or, for as long as there is more to know, that and more.
 */
export type Entry = State | Envelope;

/** Moments are µs of the store's clock; 0 where there is none. */
export interface Envelope {
  readonly state: State | undefined;
  /** Permits booked for later: moment, cost, moment, cost, …, in the order of their moments. */
  readonly queue: readonly number[];
  /** What `state` will be after all that is booked; `undefined` while nothing is. */
  readonly queueEndState: State | undefined;
  /** Could somebody go before the last who is booked, and delay nobody? Otherwise all queue up behind. */
  readonly hasGaps: boolean;
  /** When this was written: a clock that went back shows by it. */
  readonly seen: number;
  /** Nobody may go before. */
  readonly blockedUntil: number;
  /** Takes the place of the policy's parameters; empty when there is none. */
  readonly override: Parameters;
  /** During an override: the state under the policy's own parameters. It counts again when the override ends. */
  readonly policyState: State | undefined;
  readonly overrideUntil: number;
  /** Of a shared rate: the setting of it under which this was written. */
  readonly rateVersion?: number | undefined;
}

export const isEnvelope = (entry: Entry): entry is Envelope => !Array.isArray(entry);

/** The moment from which an entry is worth as much as none. */
export function expiryOf(entry: Entry): number {
  if (!isEnvelope(entry)) return entry[0]!;
  const { state, policyState, queueEndState, queue, blockedUntil, overrideUntil } = entry;
  const states = Math.max(state?.[0] ?? 0, policyState?.[0] ?? 0, queueEndState?.[0] ?? 0);
  return Math.max(states, queue.at(-2) ?? 0, blockedUntil, overrideUntil);
}

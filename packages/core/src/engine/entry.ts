import type { Parameters, State } from '../algorithms/algorithm.js';

/** What a store keeps of a key: an algorithm's bare state, or an envelope while the key is blocked, overridden, booked or of a shared rate. */
export type Entry = State | Envelope;

/** Moments are µs of the store's clock; 0 where there is none. */
export interface Envelope {
  readonly state: State | undefined;
  /** Bookings: moment, cost, moment, cost, …, in the order of the moments. */
  readonly queue: readonly number[];
  /** The state after all bookings; `undefined` without any. */
  readonly queueEndState: State | undefined;
  /** Can a call get a moment before the last booking and delay none? Otherwise it queues behind the last. */
  readonly hasGaps: boolean;
  /** When this was written. A later moment than now shows that the clock went back. */
  readonly seen: number;
  /** End of a block. */
  readonly blockedUntil: number;
  /** Parameters in place of the policy's; empty without an override. */
  readonly override: Parameters;
  /** During an override: the state under the policy's own parameters, which decides again when the override ends. */
  readonly policyState: State | undefined;
  readonly overrideUntil: number;
  /** During an override, with bookings: when the state under the policy's own parameters expires after them. Redis keeps it as the TTL. */
  readonly policyEnd?: number | undefined;
  /** Of a shared rate: its version when this was written. */
  readonly rateVersion?: number | undefined;
}

export const isEnvelope = (entry: Entry): entry is Envelope => !Array.isArray(entry);

/** The moment (µs) at which an entry expires. */
export function expiryOf(entry: Entry): number {
  if (!isEnvelope(entry)) return entry[0]!;
  const { state, policyState, queueEndState, queue, blockedUntil, overrideUntil, policyEnd = 0 } = entry;
  const states = Math.max(state?.[0] ?? 0, policyState?.[0] ?? 0, queueEndState?.[0] ?? 0);
  return Math.max(states, queue.at(-2) ?? 0, blockedUntil, overrideUntil, policyEnd);
}

/**
 * Has the store forgotten the envelope by now? Memory may still have it. Bookings of an ended override count until they have expired under
 * the policy's own parameters, which only a decision knows.
 */
export function isForgotten(envelope: Envelope, now: number): boolean {
  const { override, queue } = envelope;
  return expiryOf(envelope) <= now && (override.length === 0 || queue.length === 0);
}

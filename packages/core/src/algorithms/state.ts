/**
 * Which permits a key has taken: a list of whole numbers. Redis stores them as eight-byte doubles, one after the other. The first is the
 * moment (µs) at which the state expires. An unused key has no list (`undefined`). Permits booked for later are not in the state but in a
 * queue: `engine/wait-queue.ts`.
 */
export type State = readonly number[];

/** The numbers of a policy as the algorithm uses them, in the order of its Lua twin. */
export type Parameters = readonly number[];

/** A wait that never ends: the cost is above what the policy ever has at once. */
export const NEVER = -1;

/** µs: if the clock goes back by at most this, time stands still until it has caught up. Repairing the state each time would give permits away. */
export const JITTER = 10_000;

/** The figures of a policy that users see. */
export interface Size {
  /** The most permits that can be taken at once. */
  readonly limit: number;
  /** µs in which `limit` permits come back. */
  readonly window: number;
}

/** For `refund`: whenever they were taken. */
export const ANY = -1;

export interface Usage {
  readonly remaining: number;
  readonly reset: number;
}

import { NEVER, type Parameters, type State } from '../algorithms/algorithm.js';
import type { Clock } from '../clock.js';
import type { StoreUnavailableError } from '../errors.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { Booking, Limit } from './limit.js';

/**
 * - `consume`: take the permits now, if every part has them;
 * - `acquire`: the same, or book them for the first moment, at most `wait` away, at which every part has them;
 * - `peek`: the answer of `consume`, without taking anything; only what the clock or the policy changed is written;
 * - `charge`: take them as a penalty, even if fewer are left;
 * - `refund`: give back what was taken or booked at the moments `at`;
 * - `renew`: begin the lease of the holder or waiting call `at` again;
 * - `block`: deny all calls for `wait` µs from now, 0 to end that;
 * - `extend-block`: the same, but a block that ends later stays;
 * - `override`: use other parameters than the rule's for `wait` µs from now, 0 to end that;
 * - `hold`: hold at least these amounts from now on, or change nothing; `settle`: count what was used instead; see `engine/hold.ts`;
 * - `reset`: forget what was taken, booked and blocked, and the denials that an escalation has counted.
 */
export type Operation =
  | 'consume'
  | 'acquire'
  | 'peek'
  | 'charge'
  | 'refund'
  | 'renew'
  | 'block'
  | 'extend-block'
  | 'override'
  | 'hold'
  | 'settle'
  | 'reset';

/** Sent in place of the id of an admitted call: all calls that wait for the key should poll again. */
export const EVERYONE = -1;

/** One call to a store, decided at once: all its parts are allowed, or none is. */
export interface Call {
  readonly operation: Operation;
  /** µs: the longest wait for `acquire`; how long a block or an override lasts. */
  readonly wait: number;
  readonly parts: readonly Part[];
  /** For `consume` and `peek`: the answer includes a `trace`. */
  readonly traced?: boolean;
  /** For `override`: the parameters that replace those of each part's rule. */
  readonly overrides?: readonly Parameters[] | undefined;
}

/** The parts of a call. */
export type CallParts = Pick<Call, 'parts'>;

/** One limit that a call is held to. */
export interface Part {
  readonly limit: Limit;
  /** Whose permits: encoded, and unique within the limit. */
  readonly key: string;
  /** Permits, a whole number ≥ 0. With 0 nothing is taken. */
  readonly cost: number;
  /** For `refund`: the moment (µs) or the holder that an answer named, or `ANY`; for `renew`: the holder. */
  readonly at: number;
  /** For `acquire`; default `PLAIN_BOOKING`. */
  readonly booking?: Booking | undefined;
}

/** A call that is its own first part: most calls have only one. */
export class KeyCall implements Call, Part {
  // Each call has all fields, in this order: code that reads calls stays fast only while they have one shape.
  /** It is under way to a remote store, so an equal call needs an object of its own. */
  readonly begun: boolean;

  /** @param several all parts, if there are several */
  constructor(
    readonly operation: Operation,
    readonly wait: number,
    readonly limit: Limit,
    readonly key: string,
    readonly cost: number,
    readonly at: number,
    readonly several: readonly Part[] | undefined = undefined,
    readonly traced = false,
    readonly overrides: readonly Parameters[] | undefined = undefined,
    readonly booking: Booking | undefined = undefined,
  ) {
    this.begun = false;
  }

  static of(call: Call): KeyCall {
    if (call instanceof KeyCall) return call;
    const { operation, wait, parts, traced, overrides } = call;
    const { limit, key, cost, at, booking } = parts[0]!;
    const several = parts.length > 1 ? parts : undefined;
    return new KeyCall(operation, wait, limit, key, cost, at, several, traced, overrides, booking);
  }

  get parts(): readonly Part[] {
    return this.several ?? [this];
  }
}

/** Where the state of a part is stored. */
export const storageKey = ({ limit, key }: Pick<Part, 'limit' | 'key'>): string =>
  limit.prefix + key + limit.suffix;

/** Does `concurrency` limit it, whose permits are held until they are released? */
export const isHeld = ({ limit }: Part): boolean => limit.rule.algorithm.holders !== undefined;

/** What a store answers. Times are whole µs of the store's clock. */
export interface Answer {
  /** May it go: now, or after `wait`? For `renew`: does it hold its permits? */
  readonly allowed: boolean;
  /** It waits in the queue until the permits are released, or for `wait`; then it should `renew`. */
  readonly queued: boolean;
  /** The moment of the decision. */
  readonly now: number;
  /** When allowed: until the permits are due. When denied: until a retry can pass; `NEVER`. */
  readonly wait: number;
  readonly parts: readonly PartAnswer[];
  /** Present only if the store itself did not answer. */
  readonly source?: AnswerSource;
}

/** What a store answers about one part of a call. Times are whole µs. */
export interface PartAnswer {
  readonly remaining: number;
  /** Until this part by itself would let the call go; `NEVER`. */
  readonly wait: number;
  /** Until every permit is back. */
  readonly reset: number;
  /** What a `refund` of this taking names: the moment at which the permits are due, or the holder. */
  readonly at: number;
  /** The parameters by which it was decided when they were not the rule's own. */
  readonly override: Parameters | undefined;
  /** With an escalation, if the store counts denials for it: µs until the key's block ends, 0 without one. */
  readonly blocked?: number | undefined;
  /** The step of the escalation that this call took: its denial set a block. 0: none. */
  readonly step?: number | undefined;
  /** Present only if the call requested it. */
  readonly trace?: Trace;
}

/** The inputs and outputs of the decision on one part. */
export interface Trace {
  /** Parameters of the policy, of its override or of a shared rate. */
  readonly parameters: Parameters;
  /** State at the moment of the decision; undefined if no earlier call counts any more. */
  readonly before: State | undefined;
  readonly after: State | undefined;
  /** Moments and costs of the bookings; the end of a block in µs, 0 without one. */
  readonly queue: readonly number[];
  readonly blockedUntil: number;
}

/** Who answered, if it was not the store itself. */
export interface AnswerSource {
  /** For `decision.source`. */
  readonly name: string;
  /** Where what was taken is renewed and given back. */
  readonly decider: Decider;
  /** Why the store did not answer, if the call was sent. */
  readonly error?: StoreUnavailableError | undefined;
}

/** Where calls are decided: a store in this process, the pipeline to a remote store, or what decides while that store is out. */
export interface Decider {
  readonly name: string;
  /** On which clock a wait is slept. */
  readonly clock: Clock;
  decide(call: Call): MaybePromise<Answer>;
  /** Of a pipeline: sends the call, or answers it from a cache. */
  dispatch?<T>(call: KeyCall, finisher: Finisher<T>): MaybePromise<T>;
  /** Of a pipeline to a store that can decide without waiting: the same without a promise. */
  readonly dispatchNow?: (<T>(call: KeyCall, finisher: Finisher<T>) => T) | undefined;
  /** Of a pipeline: decides by the failure policies. @throws `error` if none applies, or the error of a failure policy */
  decideWithoutStore?(call: Call, error: StoreUnavailableError): Answer;
  /** Wakes waiting calls: see `WakingFacet`. */
  readonly listen?: ((key: string, granted: (id: number) => void) => Promise<() => void>) | undefined;
  /**
   * For a remote store: calls `listener` each time the node of a storage key goes out, and at once if it is out. Returns a function that
   * removes the listener.
   */
  onOutage?(key: string, listener: (error: StoreUnavailableError) => void): () => void;
}

/** Makes the result of a call. `failed`: the call has none and rejects. */
export interface Finisher<T> {
  finish(call: KeyCall, answer: Answer): T;
  failed?(call: KeyCall, error: unknown): void;
}

/** The answer to a call of one part that books nothing. */
export function answerOf(now: number, wait: number, at: number, remaining: number, reset: number): Answer {
  const parts = [{ remaining, wait, reset, at, override: undefined }];
  return { allowed: wait === 0, queued: false, now, wait, parts };
}

/** Rounded up, so that the time is over after that many milliseconds. */
export const waitMs = (micros: number): number =>
  micros === NEVER ? Number.POSITIVE_INFINITY : Math.ceil(micros / 1000);

/** µs until no key of the call is blocked by an escalation; 0 without a block. */
export const longestBlock = ({ parts }: Answer): number =>
  parts.reduce((longest, { blocked = 0 }) => Math.max(longest, blocked), 0);

/** The index of the binding part: of a denial the one with the longest wait, and otherwise the one with the fewest permits left. */
export function bindingPart({
  allowed,
  parts,
}: {
  readonly allowed: boolean;
  readonly parts: readonly Pick<PartAnswer, 'wait' | 'remaining'>[];
}): number {
  let bound = 0;
  for (let i = 1; i < parts.length; i += 1) {
    const [wait, longest] = [waitMs(parts[i]!.wait), waitMs(parts[bound]!.wait)];
    const less = parts[i]!.remaining < parts[bound]!.remaining;
    if (!allowed && wait !== longest ? wait > longest : less) bound = i;
  }
  return bound;
}

import type { Rule } from '../../algorithms/algorithm.js';
import { type Answer, type Call, type Part, storageKey } from '../../engine/call.js';
import { StoreUnavailableError } from '../../errors.js';
import type { Asking } from '../../pipeline/asking.js';

/** Calls in a row that have the same keys: the script reads each key once and writes it at most once. */
export interface Visit {
  readonly keys: readonly string[];
  /** In the order in which they were asked. */
  readonly asked: Asking[];
}

// What a script call weighs: µs that Redis is busy, about, as measured on one core of a server.

/** A script call, whatever is in it. */
const SCRIPT = 6;
/** A key that is read and written, by an algorithm that `spends` and by another. */
const KEY = 3;
const SLOW_KEY = 7;
/** One more call of that key, equal to the one before, by an algorithm that `spends` and by another. */
const EQUAL = 0.05;
const SLOW_EQUAL = 3;
/** One more call of that key that is not equal. */
const OTHER = 4;
/** Each part of a call that does more than to consume of one key. */
const GENERAL = 10;
/** Each who is booked at a key: every call that may be booked there reads and writes all of them. */
const BOOKED = 0.8;
/** Bytes of a long state, such as a log, that are read and written in a µs. */
const BYTES = 400;

/**
 * Calls that leave together, as the fewest visits that keep the order of those that have a key in common. Between others there is
 * no order to keep.
 */
export class Batch {
  visits: Visit[] = [];
  /** µs that Redis will be busy with it, about. */
  weight = SCRIPT;
  /** Which visit was the last to each key; made when there is a second one. */
  #last: Map<string, Visit> | undefined;

  add(asking: Asking): void {
    asking.unsent = true;
    const { call } = asking;
    const known = this.#lastTo(storageKey(call.parts[0]!));
    if (known !== undefined && this.#joins(call, known)) {
      this.weight += weightOf(call, known.asked.at(-1)!.call);
      known.asked.push(asking);
      return;
    }
    const visit = { keys: keysOf(call), asked: [asking] };
    for (const { limit } of call.parts) this.weight += keyWeight(limit.rule);
    if (!isPlain(call)) this.weight += weightOf(call);
    this.visits.push(visit);
    if (this.visits.length > 1) this.#note(visit);
  }

  #lastTo(key: string): Visit | undefined {
    if (this.#last !== undefined) return this.#last.get(key);
    const [first] = this.visits;
    return first?.keys.includes(key) ? first : undefined;
  }

  #note(visit: Visit): void {
    if (this.#last === undefined) {
      this.#last = new Map();
      for (const key of this.visits[0]!.keys) this.#last.set(key, this.visits[0]!);
    }
    for (const key of visit.keys) this.#last.set(key, visit);
  }

  /**
   * Leaves out those for whom nobody waits any more. The others are put together anew: who is gone may have been all that stood between
   * two visits of one key, and those must be one, as the script takes the keys of visits that are alike for different ones.
   * @returns whether there is anybody left
   */
  forget(): boolean {
    if (this.visits.some(({ asked }) => asked.some(({ abandoned }) => abandoned))) {
      const left = this.visits.flatMap(({ asked }) => asked).filter(stays);
      this.visits = [];
      this.weight = SCRIPT;
      this.#last = undefined;
      for (const asking of left) this.add(asking);
    }
    return this.visits.length > 0;
  }

  /** From now on the outcome of an unanswered call is unknown. */
  sent(): void {
    for (const { asked } of this.visits) for (const asking of asked) asking.unsent = false;
  }

  /** None of them will be answered. Those who have their answers already keep them. */
  failed(error: unknown): void {
    for (const { asked } of this.visits) for (const asking of asked) asking.failed(error);
  }

  /** No visit in between has one of the keys. */
  #joins(call: Call, { keys }: Visit): boolean {
    if (isSingle(call)) return keys.length === 1;
    const visit = this.#lastTo(keys[0]!);
    const own = keysOf(call);
    return (
      own.length === keys.length && own.every((key, i) => key === keys[i] && this.#lastTo(key) === visit)
    );
  }
}

/** As the script has them: the entry of a shared rate may be one for each client, and the rate has a key itself. */
function keysOf(call: Call): string[] {
  const { parts } = call;
  if (isSingle(call)) return [storageKey(parts[0]!)];
  return parts.flatMap((part) => {
    const { shared } = part.limit;
    return shared === undefined ? [storageKey(part)] : [storageKey(part), shared.client, shared.config];
  });
}

/** A call that can be told by how much it takes, and by nothing else. */
export const isPlain = (call: Call): boolean =>
  call.operation === 'consume' && call.traced !== true && isSingle(call);

/** Of one key. */
const isSingle = ({ parts }: Call): boolean => parts.length === 1 && parts[0]!.limit.shared === undefined;

/** Two calls that are the same question: decided one after the other without being told twice. */
export function isSame(a: Call, b: Call): boolean {
  return (
    a === b ||
    (a.operation === b.operation &&
      a.operation !== 'override' &&
      a.wait === b.wait &&
      a.traced === b.traced &&
      isSamePart(a.parts[0]!, b.parts[0]!) &&
      (a.parts.length === 1 || a.parts.every((part, i) => isSamePart(part, b.parts[i]!))))
  );
}

const isSamePart = (a: Part, b: Part): boolean =>
  a.limit.rule === b.limit.rule && a.cost === b.cost && a.at === b.at;

const keyWeight = ({ algorithm, parameters }: Rule): number =>
  (algorithm.spends === true ? KEY : SLOW_KEY) + (algorithm.bytes?.(parameters) ?? 0) / BYTES;

/** @param before the call before, of the same keys */
function weightOf(call: Call, before?: Call): number {
  if (isPlain(call)) {
    if (before === undefined || !isSame(call, before)) return OTHER;
    return call.parts[0]!.limit.rule.algorithm.spends === true ? EQUAL : SLOW_EQUAL;
  }
  const booking = call.operation === 'acquire';
  return call.parts.reduce(
    (weight, { limit }) => weight + GENERAL + (booking ? bookingWeight(limit.rule) : 0),
    0,
  );
}

/** How many are booked at a key of a rule, about: as the last answer has it, and those who have asked since. */
const booked = new WeakMap<Rule, number>();

function bookingWeight(rule: Rule): number {
  const before = booked.get(rule) ?? 0;
  booked.set(rule, before + 1);
  return BOOKED * before;
}

/** Whoever has to wait for so long comes behind as many as go in that time. */
export function learn({ operation, parts }: Call, { wait }: Answer): void {
  if (operation !== 'acquire') return;
  for (const {
    limit: { rule },
  } of parts)
    booked.set(rule, Math.max(0, Math.ceil((wait * rule.limit) / rule.window)));
}

function stays(asking: Asking): boolean {
  if (asking.abandoned) {
    asking.failed(
      new StoreUnavailableError('redis store: given up before it was sent', { reason: 'timeout' }),
    );
  }
  return !asking.abandoned;
}

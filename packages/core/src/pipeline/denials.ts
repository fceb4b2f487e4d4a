import { NEVER } from '../algorithms/algorithm.js';
import { type Answer, type Call, isHeld, type PartAnswer, storageKey } from '../engine/call.js';
import type { Store } from '../stores/store.js';
import type { Asking } from './asking.js';
import { isStandIn, type StandInAnswer } from './fallback-answer.js';

/** Denials that are remembered at once; the older half makes room. */
const MOST = 10_000;

export interface Denial {
  readonly call: Call;
  readonly answer: Answer;
  /** µs of this process's clock, before the store was asked: so no moment of the answer is taken for later than it is. */
  readonly asked: number;
  /** Until when it holds, on the same clock. */
  readonly until: number;
  /** Which of the counters of `Loosenings` its key has, and what that had counted by then. */
  readonly counter: number;
  readonly count: number;
  /** Who came with the same call while it is asked anew; undefined while it is not. */
  waiting: Asking[] | undefined;
}

/** What was denied of late, by the key of the part that denied. */
export class Denials {
  readonly #longest: number;
  readonly #loosenings: Loosenings;
  readonly #by: Store;
  /** Two generations, for to find the oldest of a Map that changes all the time takes a walk over what is gone. */
  #recent = new Map<string, Denial>();
  #older = new Map<string, Denial>();

  /**
   * @param longest µs for which a denial is remembered at the most
   * @param by whose answers they are told to be
   */
  constructor(longest: number, loosenings: Loosenings, by: Store) {
    this.#longest = longest;
    this.#loosenings = loosenings;
    this.#by = by;
  }

  /** @param asked µs of this process's clock, before the store was asked */
  remember(call: Call, answer: Answer, asked: number): void {
    if (answer.allowed || answer.wait === NEVER || isStandIn(answer) || call.parts.some(isHeld)) return;
    const key = storageKey(call.parts[bindingOf(answer)]!);
    const counter = counterOf(key);
    const count = this.#loosenings.count(counter);
    const until = asked + Math.min(this.#longest, answer.wait);
    if (this.#recent.size >= MOST / 2) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, { call, answer, asked, until, counter, count, waiting: undefined });
  }

  /** The denial of the same call, if as far as is known it could not pass yet. @param now µs */
  find(call: Call, now: number): Denial | undefined {
    if (this.#recent.size + this.#older.size === 0) return undefined;
    for (const part of call.parts) {
      const key = storageKey(part);
      const denial = this.#recent.get(key) ?? this.#older.get(key);
      if (denial === undefined) continue;
      const passes = now >= denial.asked + denial.answer.wait || now < denial.asked;
      if (passes || denial.count !== this.#loosenings.count(denial.counter)) this.#forget(key);
      else if (covers(denial.call, call)) return denial;
    }
    return undefined;
  }

  /** What the same call is told at `now`. */
  told({ answer, asked }: Denial, now: number): StandInAnswer {
    return aged(answer, now - asked, this.#by);
  }

  /** Forgets a denial, not one that has taken its place. */
  drop(denial: Denial): void {
    const key = storageKey(denial.call.parts[bindingOf(denial.answer)]!);
    if (this.#recent.get(key) === denial) this.#recent.delete(key);
    if (this.#older.get(key) === denial) this.#older.delete(key);
  }

  clear(): void {
    this.#recent = new Map();
    this.#older = new Map();
  }

  #forget(key: string): void {
    this.#recent.delete(key);
    this.#older.delete(key);
  }
}

/** A power of two. Keys share counters: then a denial is forgotten without need, and never kept too long. */
const COUNTERS = 1024;

/** Counts what this process lets pass sooner in one store, whichever limiter does it. */
export class Loosenings {
  readonly #counts = new Uint32Array(COUNTERS);

  count(counter: number): number {
    return this.#counts[counter]!;
  }

  add({ parts }: Call): void {
    for (const part of parts) this.#counts[counterOf(storageKey(part))]! += 1;
  }
}

function counterOf(key: string): number {
  let hash = 0;
  for (let i = 0; i < key.length; i += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0;
  return hash & (COUNTERS - 1);
}

/** The part that is waited for longest. */
const bindingOf = ({ parts }: Answer): number =>
  parts.reduce((longest, { wait }, i) => (wait > parts[longest]!.wait ? i : longest), 0);

/** Is it the same question? Less might pass, and more has to wait for longer. */
function covers({ parts }: Call, asked: Call): boolean {
  if (parts.length !== asked.parts.length) return false;
  for (let i = 0; i < parts.length; i += 1) {
    const [one, other] = [parts[i]!, asked.parts[i]!];
    // Limiters created at run time with one name have the same keys but other rules.
    if (
      one.key !== other.key ||
      one.cost !== other.cost ||
      one.limit.rule !== other.limit.rule ||
      one.limit.prefix !== other.limit.prefix
    )
      return false;
  }
  return true;
}

/** The same answer, `micros` later. Written out: to spread objects would take longer than all the rest. */
function aged({ allowed, queued, now, wait, parts }: Answer, micros: number, by: Store): StandInAnswer {
  const later: PartAnswer[] = [];
  for (const { remaining, wait, reset, at, override } of parts) {
    later.push({ remaining, wait: less(wait, micros), reset: less(reset, micros), at, override });
  }
  return { allowed, queued, now: now + micros, wait: less(wait, micros), parts: later, by };
}

const less = (time: number, micros: number): number => (time === NEVER ? NEVER : Math.max(0, time - micros));

import { NEVER } from '../algorithms/algorithm.js';
import type { Answer, Call, PartAnswer } from '../decisions/call.js';
import type { Store } from '../stores/store.js';
import type { StandInAnswer } from './stand-in-answer.js';

/** Denials that are remembered at once; the older half makes room. */
const MOST = 10_000;

interface Denial {
  readonly call: Call;
  readonly answer: Answer;
  /** µs of this process's clock, before the store was asked: so no moment of the answer is taken for later than it is. */
  readonly asked: number;
  /** Until when it holds, on the same clock. */
  readonly until: number;
  /** Where is counted what loosens it, and what had been by then. */
  readonly place: number;
  readonly mark: number;
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
    const { key } = call.parts[bindingOf(answer)]!;
    const place = placeOf(key);
    const until = asked + Math.min(this.#longest, answer.wait);
    if (this.#recent.size >= MOST / 2) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, { call, answer, asked, until, place, mark: this.#loosenings.at(place) });
  }

  /** What was said to the same call, if it still holds. @param now µs */
  recall(call: Call, now: number): StandInAnswer | undefined {
    if (this.#recent.size + this.#older.size === 0) return undefined;
    for (const { key } of call.parts) {
      const denial = this.#recent.get(key) ?? this.#older.get(key);
      if (denial === undefined) continue;
      const over = now >= denial.until || now < denial.asked;
      if (over || denial.mark !== this.#loosenings.at(denial.place)) this.#forget(key);
      else if (covers(denial.call, call)) return aged(denial.answer, now - denial.asked, this.#by);
    }
    return undefined;
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

/** Counts what this process lets pass sooner in one store, whichever limiter does it; keys share the counters. */
export class Loosenings {
  readonly #counts = new Uint32Array(1024);

  at(place: number): number {
    return this.#counts[place]!;
  }

  add({ parts }: Call): void {
    for (const { key } of parts) this.#counts[placeOf(key)]! += 1;
  }
}

function placeOf(key: string): number {
  let hash = 0;
  for (let i = 0; i < key.length; i += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0;
  return hash & 1023;
}

/** The part that is waited for longest. */
const bindingOf = ({ parts }: Answer): number =>
  parts.reduce((longest, { wait }, i) => (wait > parts[longest]!.wait ? i : longest), 0);

/** Is it the same question? Less might pass, and more has to wait for longer. */
function covers({ parts }: Call, asked: Call): boolean {
  if (parts.length !== asked.parts.length) return false;
  for (let i = 0; i < parts.length; i += 1) {
    if (parts[i]!.key !== asked.parts[i]!.key || parts[i]!.cost !== asked.parts[i]!.cost) return false;
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

import { performance } from '#platform';
import { NEVER } from '../algorithms/algorithm.js';
import { shiftAnswer } from '../call/answers.js';
import {
  type Answer,
  type AnswerSource,
  bindingPart,
  type Call,
  isHeld,
  type KeyCall,
  longestBlock,
  type Operation,
  type Part,
  storageKey,
} from '../call/call.js';
import type { PendingCall, Renewal } from '../call/pending-call.js';
import { charCodeAt } from '../runtime.js';
import { currentTurn } from './turns.js';

/** Denials that are cached at once; the older half makes room. */
const MOST = 10_000;
/** Cached denials of one turn that share a reading of the clock: reading it takes as long as everything else about them. */
const SHARE_CLOCK = 16;

export interface Denial extends Renewal {
  /** Storage key of the part that denied. */
  readonly key: string;
  /** The parts of the denied call, which itself would keep its whole departure alive. */
  readonly parts: readonly Part[];
  readonly answer: Answer;
  /** When the call began, µs of this process's clock: times in the answer count from here, so none ends too late. */
  readonly sentAt: number;
  /** Until when calls get this denial, on the same clock. */
  readonly until: number;
  /** The counter of `Invalidations` for its key, and its value then. */
  readonly counter: number;
  readonly count: number;
  /** The answer at the moment `shiftedTo`. */
  shifted: Answer | undefined;
  shiftedTo: number;
}

/** Recent denials, by the storage key of the part that denied. */
export class DenyCache {
  /** Two generations, because finding the oldest entry of a busy Map walks over deleted ones. */
  #recent = new Map<string, Denial>();
  #older = new Map<string, Denial>();
  isEmpty = true;
  /** The last denial found: a flood is many calls of one key. */
  #last: Denial | undefined;
  /** The call that found it, which a limiter may make once for many. */
  #lastCall: KeyCall | undefined;
  /** µs: the clock at the last `find`. */
  #now = 0;
  /** The turn in which `#nowUses` more calls may use `#now`; undefined: read the clock. */
  #nowTurn: number | undefined;
  #nowUses = 0;

  /** @param longest µs for which a denial is cached at most; 0: none is */
  constructor(
    readonly longest: number,
    readonly invalidations: Invalidations,
    readonly source: AnswerSource,
  ) {}

  /**
   * Permits that are held can be released elsewhere at any moment, so their denials are not cached. Each denial counts for an escalation, so
   * it must reach the store, except while a key of the call is blocked.
   * @param began when the call began, ms of the monotonic clock, unless it was decided at once
   */
  remember(call: KeyCall, answer: Answer, sentAt: number, began = Number.POSITIVE_INFINITY): void {
    if (this.longest === 0 || answer.wait === NEVER || answer.source !== undefined) return;
    const { several, limit, key: own, cost, at } = call;
    const parts = several ?? [{ limit, key: own, cost, at }];
    if (parts.some(isHeld)) return;
    const blocked = parts.some(escalates) ? longestBlock(answer) : answer.wait;
    const longest = Math.min(this.longest, answer.wait, blocked);
    if (longest === 0) return;
    const key = storageKey(parts[bindingPart(answer)]!);
    const counter = counterOf(key);
    // Over several connections the answer to a reset can overtake a denial that was decided before it.
    if (began < this.invalidations.latest(counter)) return;
    const count = this.invalidations.count(counter);
    const until = sentAt + longest;
    if (this.#recent.size >= MOST / 2) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#last = undefined;
    this.isEmpty = false;
    this.#recent.set(key, {
      key,
      parts,
      answer,
      sentAt,
      until,
      counter,
      count,
      waiting: undefined,
      shifted: undefined,
      shiftedTo: 0,
    });
  }

  /** The denial of an equal call, unless the call may pass by now. @param mayShare an earlier reading of the clock in this turn */
  find(call: KeyCall, mayShare = true): Denial | undefined {
    if (call.operation !== 'consume' || call.traced || this.isEmpty) return undefined;
    if (mayShare && this.#nowUses > 0 && this.#nowTurn === currentTurn()) this.#nowUses -= 1;
    else {
      this.#now = this.source.decider.clock.now();
      this.#nowTurn = undefined;
      this.#nowUses = SHARE_CLOCK - 1;
    }
    const last = this.#last;
    if (last === undefined || (call !== this.#lastCall && !isEqual(last, call))) return this.#look(call);
    this.#lastCall = call;
    return this.#isValid(last) ? last : undefined;
  }

  #look(call: KeyCall): Denial | undefined {
    for (const part of call.parts) {
      const key = storageKey(part);
      const denial = this.#recent.get(key) ?? this.#older.get(key);
      if (denial === undefined || !this.#isValid(denial) || !isEqual(denial, call)) continue;
      this.#last = denial;
      this.#lastCall = call;
      return denial;
    }
    return undefined;
  }

  /** Later calls of this turn may share the last reading of the clock. Only after `mayAnswerNow`: a turn without answers is not counted. */
  shareClock(): void {
    this.#nowTurn = currentTurn();
  }

  /** Do calls get this denial at the last `find`? Otherwise one of them renews it. */
  isFresh({ until }: Denial): boolean {
    return this.#now < until;
  }

  /** The answer of a denial at the last `find`: one object for all calls of a moment. */
  answer(denial: Denial): Answer {
    const now = this.#now;
    if (denial.shifted === undefined || denial.shiftedTo !== now) {
      denial.shifted = shiftAnswer(denial.answer, now - denial.sentAt, this.source);
      denial.shiftedTo = now;
    }
    return denial.shifted;
  }

  /** From now on equal calls wait for this one. */
  renew(denial: Denial, call: PendingCall): void {
    denial.waiting = [];
    call.renews = denial;
  }

  /** The call has ended: the denial that it renews is removed. @returns the calls that wait for it */
  renewed({ renews }: PendingCall): readonly PendingCall[] | undefined {
    if (renews === undefined) return undefined;
    const { waiting } = renews;
    renews.waiting = undefined;
    const denial = renews as Denial;
    // A newer one of the same key stays.
    for (const kept of [this.#recent, this.#older])
      if (kept.get(denial.key) === denial) kept.delete(denial.key);
    if (this.#last === denial) this.#last = undefined;
    return waiting;
  }

  #isValid(denial: Denial): boolean {
    const { sentAt, answer, count, counter } = denial;
    const now = this.#now;
    const passes = now >= sentAt + answer.wait || now < sentAt;
    if (!passes && count === this.invalidations.count(counter)) return true;
    this.#recent.delete(denial.key);
    this.#older.delete(denial.key);
    this.#last = undefined;
    this.isEmpty = this.#recent.size + this.#older.size === 0;
    return false;
  }
}

const escalates = ({ limit }: Part): boolean => limit.rule.escalation !== undefined;

/** The cost must be equal: a smaller one might pass, and a larger one waits longer. */
function isEqual({ parts }: Denial, call: KeyCall): boolean {
  const { several } = call;
  if (several === undefined) return parts.length === 1 && isEqualPart(parts[0]!, call);
  return parts.length === several.length && parts.every((part, i) => isEqualPart(part, several[i]!));
}

/** Limiters created at run time with one name have the same keys but other rules. */
const isEqualPart = (a: Part, b: Part): boolean =>
  a.key === b.key && a.cost === b.cost && a.limit.rule === b.limit.rule && a.limit.prefix === b.limit.prefix;

/** Operations after which a key may pass at another moment than a denial said. */
const INVALIDATES: readonly Operation[] = ['refund', 'block', 'extend-block', 'override', 'reset', 'settle'];

/** A power of two. Keys share counters, so a denial may be removed too early, but never too late. */
const COUNTERS = 1024;

/** Counts the operations of this process in one store that may change when a key passes. */
export class Invalidations {
  readonly #counts = new Uint32Array(COUNTERS);
  readonly #latest = new Float64Array(COUNTERS);

  count(counter: number): number {
    return this.#counts[counter]!;
  }

  /** The last `add`, ms of the monotonic clock; 0 without one. */
  latest(counter: number): number {
    return this.#latest[counter]!;
  }

  /** Call it at the start of a call and again at its end: a denial already in flight was decided before the change. */
  add({ operation, parts }: Call): void {
    if (!INVALIDATES.includes(operation)) return;
    const now = performance.now();
    for (const part of parts) {
      const counter = counterOf(storageKey(part));
      this.#counts[counter]! += 1;
      this.#latest[counter] = now;
    }
  }
}

/** The counter of a storage key. */
function counterOf(key: string): number {
  let hash = 0;
  for (let i = 0; i < key.length; i += 1) hash = (Math.imul(hash, 31) + charCodeAt(key, i)) | 0;
  return hash & (COUNTERS - 1);
}

import { performance } from '#platform';
import type { Rule } from '../../algorithms/algorithm.js';
import { type Call, type KeyCall, type Part, storageKey } from '../../call/call.js';
import type { Departure, DepartureDeadline } from '../../call/deadlines.js';
import type { PendingCall } from '../../call/pending-call.js';
import { systemClock } from '../../clock.js';
import { ESCALATION_SUFFIX } from '../../engine/escalation.js';
import { getOrCreate } from '../../maps.js';

// Weights of a script call: about how long Redis is busy with it, µs, as measured on one core of a server.

/** A script call without calls. */
const SCRIPT = 6;
/** Reading and writing a key, for algorithms with a `take-run.lua` and for others. */
const KEY = 3;
const SLOW_KEY = 7;
/** One more call of that key, equal to the call before, for the same two. */
const EQUAL = 0.05;
const SLOW_EQUAL = 3;
/** One more call of that key that differs from the call before. */
const OTHER = 4;
/** Each part of a call that is more than a `consume` of one key. */
const GENERAL = 10;
/** Each booking at a key: every call that can book there reads and writes all of them. */
const BOOKED = 0.8;
/** Bytes of a long state, such as a log, that are read and written in 1 µs. */
const BYTES = 400;

/** Consecutive calls with the same keys: the script reads each key once and writes it at most once. */
export class KeyGroup {
  /** In the order in which they were made. */
  readonly calls: PendingCall[];

  constructor(
    readonly first: PendingCall,
    /** The keys, unless it is the one key of the first call. */
    readonly several: readonly string[] | undefined,
    /** Are all of them the same `consume` of one key? */
    public isRun: boolean,
  ) {
    this.calls = [first];
  }

  get keys(): readonly string[] {
    return this.several ?? [storageKey(this.first)];
  }
}

/** Calls that are sent together, in the fewest groups that keep the order of calls with a key in common. Other calls need no order. */
export class Batch implements Departure {
  readonly began: number;
  sent = false;
  hasEnded = false;
  deadline: DepartureDeadline | undefined = undefined;
  groups: KeyGroup[] = [];
  /** About how long Redis is busy with it, µs. */
  weight = SCRIPT;
  /** The last group of each key, by prefix and key; undefined while there is one group, of one key. */
  #last: Map<string, Map<string, KeyGroup>> | undefined = undefined;

  #localTime: number | undefined = undefined;
  #open = 0;
  #first: PendingCall | undefined = undefined;

  /**
   * @param node the cluster node of all keys, which may be in several slots
   * @param whole the batch whose calls these are, if they are sent again
   */
  constructor(
    readonly node?: string,
    readonly whole?: Batch,
  ) {
    this.began = whole?.began ?? performance.now();
  }

  /** Read for denials and calendars only: a second clock takes as long to read as a call to add. */
  get localTime(): number {
    this.#localTime ??= systemClock.now() - Math.ceil((performance.now() - this.began) * 1000);
    return this.#localTime;
  }

  /** Splits it into batches of these groups. It ends when all of them have ended. */
  apart(parts: readonly (readonly KeyGroup[])[]): readonly Batch[] {
    this.#open = parts.length;
    return parts.map((groups) => {
      const one = new Batch(undefined, this);
      for (const { calls } of groups) for (const call of calls) one.add(call);
      one.hasEnded = true; // some of its calls may have
      return one;
    });
  }

  /** One of its storage keys, also when all its calls have ended. */
  get key(): string {
    return storageKey(this.#first!);
  }

  add(call: PendingCall): void {
    call.departure = this;
    this.#first ??= call;
    const plain = isPlain(call);
    const known = this.groups.length === 0 ? undefined : this.#lastTo(call.limit.prefix, call.key);
    if (known !== undefined && (plain ? known.several === undefined : this.#joins(call, known))) {
      const before = known.calls[known.calls.length - 1]!;
      // Two plain calls of a run differ in their rules and costs only.
      const same =
        plain &&
        (known.isRun
          ? before.limit.rule === call.limit.rule && before.cost === call.cost
          : isSame(call, before));
      if (!same) known.isRun = false;
      this.weight += same ? equalWeight(call.limit.rule) : plain ? OTHER : moreWeight(call);
      known.calls.push(call);
      return;
    }
    const group = new KeyGroup(call, plain || isSingle(call) ? undefined : keysOf(call), plain);
    const { rule } = call.limit;
    rule.weight ??= keyWeight(rule);
    this.weight += plain ? rule.weight : firstWeight(call);
    this.groups.push(group);
    if (this.groups.length === 2 && this.#last === undefined) this.#note(this.groups[0]!);
    if (this.groups.length > 1 || call.several !== undefined) this.#note(group);
  }

  #lastTo(prefix: string, key: string): KeyGroup | undefined {
    if (this.#last !== undefined) return this.#last.get(prefix)?.get(key);
    const [group] = this.groups as [KeyGroup];
    const call = group.first;
    return call.key === key && call.limit.prefix === prefix ? group : undefined;
  }

  #note(group: KeyGroup): void {
    this.#last ??= new Map();
    const call = group.first;
    if (call.several === undefined) this.#notePart(call, group);
    else for (const part of call.several) this.#notePart(part, group);
  }

  #notePart({ limit, key }: Part, group: KeyGroup): void {
    let keys = this.#last!.get(limit.prefix);
    if (keys === undefined) {
      keys = new Map();
      this.#last!.set(limit.prefix, keys);
    }
    keys.set(key, group);
  }

  /**
   * Drops calls that have ended, and groups the others again: a dropped call may have been all that separated two groups of one key. The
   * script takes equal groups for groups of different keys.
   * @returns whether any call is left
   */
  forget(): boolean {
    this.hasEnded = false;
    const left = this.groups.flatMap(({ calls }) => calls).filter(({ over }) => !over);
    this.groups = [];
    this.weight = SCRIPT;
    this.#last = undefined;
    for (const call of left) this.add(call);
    return this.groups.length > 0;
  }

  each(action: (call: PendingCall) => void): void {
    for (const { calls } of this.groups) for (const call of calls) action(call);
  }

  /** The store has answered or failed: no deadline ends these calls any more. */
  end(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.whole?.end();
    for (let one = this.deadline; one !== undefined; one = one.next) one.deadlines.end(one);
  }

  /** Have all its calls ended, perhaps before there was an answer? */
  isOver(): boolean {
    return this.groups.every(({ calls }) => calls.every(({ over }) => over));
  }

  failed(error: unknown): void {
    this.end();
    this.each((call) => call.failed(error));
  }

  /** No group in between has one of the keys. */
  #joins(call: KeyCall, group: KeyGroup): boolean {
    if (isSingle(call)) return group.several === undefined;
    const own = keysOf(call);
    const { keys } = group;
    return (
      own.length === keys.length &&
      own.every((key, i) => key === keys[i]) &&
      call.parts.every(({ limit, key }) => this.#lastTo(limit.prefix, key) === group)
    );
  }
}

/** The keys of a script call. A shared rate has a key itself, and may have one for each client; an escalation has one. */
const keysOf = (call: Call): string[] =>
  call.parts.flatMap((part) => {
    const { shared, rule } = part.limit;
    const key = storageKey(part);
    if (shared !== undefined) return [key, shared.client, shared.config];
    return rule.escalation === undefined ? [key] : [key, key + ESCALATION_SUFFIX];
  });

/** Does the script need only its cost? */
const isPlain = ({ operation, traced, several, limit }: KeyCall): boolean =>
  operation === 'consume' &&
  !traced &&
  several === undefined &&
  limit.shared === undefined &&
  limit.rule.escalation === undefined;

/** Has it one key? */
const isSingle = ({ several, limit }: KeyCall): boolean =>
  several === undefined && limit.shared === undefined && limit.rule.escalation === undefined;

/** Equal calls are decided one after the other, and sent once with their number. */
export function isSame(a: KeyCall, b: KeyCall): boolean {
  if (a.operation === 'override') return false;
  if (a === b) return true;
  if (a.operation !== b.operation || a.wait !== b.wait || a.traced !== b.traced || !isSamePart(a, b))
    return false;
  if (a.several === undefined) return b.several === undefined;
  return a.several.every((part, i) => isSamePart(part, b.parts[i]!));
}

const isSamePart = (a: Part, b: Part): boolean =>
  a.limit.rule === b.limit.rule && a.cost === b.cost && a.at === b.at && a.booking === b.booking;

const keyWeight = ({ algorithm, parameters }: Rule): number =>
  (algorithm.speed?.expandRun !== undefined ? KEY : SLOW_KEY) +
  (algorithm.speed?.bytes?.(parameters) ?? 0) / BYTES;

const equalWeight = ({ algorithm }: Rule): number =>
  algorithm.speed?.expandRun !== undefined ? EQUAL : SLOW_EQUAL;

/** Weight of a call that is not plain and begins a group. */
function firstWeight(call: KeyCall): number {
  let weight = moreWeight(call);
  for (const { limit } of call.parts) weight += keyWeight(limit.rule);
  return weight;
}

function moreWeight({ operation, parts }: KeyCall): number {
  const booking = operation === 'acquire';
  return parts.reduce((weight, { limit }) => weight + GENERAL + (booking ? bookingWeight(limit.rule) : 0), 0);
}

function bookingWeight(rule: Rule): number {
  const before = rule.booked ?? 0;
  rule.booked = before + 1;
  return BOOKED * before;
}

/** Learns from the answer to an `acquire`: a call that waits `wait` µs is behind as many calls as pass in that time. */
export function learn({ parts }: Call, wait: number): void {
  for (const { limit } of parts) {
    const { rule } = limit;
    rule.booked = Math.max(0, Math.ceil((wait * rule.limit) / rule.window));
  }
}

/** The hash tag of a key, which decides its slot. Keys with different tags seldom share a slot. */
export function tagOf(key: string): string {
  const open = key.indexOf('{');
  const end = key.indexOf('}', open + 1);
  return open === -1 || end <= open + 1 ? key : key.slice(open + 1, end);
}

/** Groups whose keys have the same hash tag, in their order. */
export function bySlot(groups: readonly KeyGroup[]): readonly (readonly KeyGroup[])[] {
  const found = new Map<string, KeyGroup[]>();
  for (const group of groups) getOrCreate(found, tagOf(group.keys[0]!), () => []).push(group);
  return [...found.values()];
}

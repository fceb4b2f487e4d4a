import type { Rule } from '../../algorithms/algorithm.js';
import type { Answer, Call, KeyCall } from '../../engine/call.js';

// What a script call weighs: µs that Redis is busy, about, as measured on one core of a server.

/** A script call, whatever is in it. */
export const SCRIPT = 6;
/** A key that is read and written, by an algorithm with a `take-run.lua` and by another. */
const KEY = 3;
const SLOW_KEY = 7;
/** One more call of that key, equal to the one before, by an algorithm with a `take-run.lua` and by another. */
const EQUAL = 0.05;
const SLOW_EQUAL = 3;
/** One more call of that key that is not equal. */
export const OTHER = 4;
/** Each part of a call that does more than to consume of one key. */
const GENERAL = 10;
/** Each who is booked at a key: every call that may be booked there reads and writes all of them. */
const BOOKED = 0.8;
/** Bytes of a long state, such as a log, that are read and written in a µs. */
const BYTES = 400;

export const keyWeight = ({ algorithm, parameters }: Rule): number =>
  (algorithm.expandRun !== undefined ? KEY : SLOW_KEY) + (algorithm.bytes?.(parameters) ?? 0) / BYTES;

export const equalWeight = ({ algorithm }: Rule): number =>
  algorithm.expandRun !== undefined ? EQUAL : SLOW_EQUAL;

/** Of a call that is not plain and begins a group. */
export function firstWeight(call: KeyCall): number {
  let weight = moreWeight(call);
  for (const { limit } of call.parts) weight += keyWeight(limit.rule);
  return weight;
}

export function moreWeight({ operation, parts }: KeyCall): number {
  const booking = operation === 'acquire';
  return parts.reduce((weight, { limit }) => weight + GENERAL + (booking ? bookingWeight(limit.rule) : 0), 0);
}

/** How many are booked at a key of a rule, about: as the last answer has it, and the calls since. */
const booked = new WeakMap<Rule, number>();

function bookingWeight(rule: Rule): number {
  const before = booked.get(rule) ?? 0;
  booked.set(rule, before + 1);
  return BOOKED * before;
}

/** Learns from an `acquire`: a call that waits for so long is behind as many as go in that time. */
export function learn({ parts }: Call, { wait }: Answer): void {
  for (const { limit } of parts) {
    const { rule } = limit;
    booked.set(rule, Math.max(0, Math.ceil((wait * rule.limit) / rule.window)));
  }
}

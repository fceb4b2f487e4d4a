import type { Rule } from '../../algorithms/algorithm.js';
import type { Call, KeyCall } from '../../call/call.js';

// Weights of a script call: about how long Redis is busy with it, µs, as measured on one core of a server.

/** A script call without calls. */
export const SCRIPT = 6;
/** Reading and writing a key, for algorithms with a `take-run.lua` and for others. */
const KEY = 3;
const SLOW_KEY = 7;
/** One more call of that key, equal to the call before, for the same two. */
const EQUAL = 0.05;
const SLOW_EQUAL = 3;
/** One more call of that key that differs from the call before. */
export const OTHER = 4;
/** Each part of a call that is more than a `consume` of one key. */
const GENERAL = 10;
/** Each booking at a key: every call that can book there reads and writes all of them. */
const BOOKED = 0.8;
/** Bytes of a long state, such as a log, that are read and written in 1 µs. */
const BYTES = 400;

export const keyWeight = ({ algorithm, parameters }: Rule): number =>
  (algorithm.speed?.expandRun !== undefined ? KEY : SLOW_KEY) +
  (algorithm.speed?.bytes?.(parameters) ?? 0) / BYTES;

export const equalWeight = ({ algorithm }: Rule): number =>
  algorithm.speed?.expandRun !== undefined ? EQUAL : SLOW_EQUAL;

/** Weight of a call that is not plain and begins a group. */
export function firstWeight(call: KeyCall): number {
  let weight = moreWeight(call);
  for (const { limit } of call.parts) weight += keyWeight(limit.rule);
  return weight;
}

export function moreWeight({ operation, parts }: KeyCall): number {
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

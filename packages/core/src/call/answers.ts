import { NEVER } from '../algorithms/algorithm.js';
import type { StoreUnavailableError } from '../errors.js';
import {
  type Answer,
  type AnswerSource,
  type Call,
  KeyCall,
  type Part,
  type PartAnswer,
  storageKey,
} from './call.js';

/** An answer of the fallback. */
export interface DegradedAnswer extends Answer {
  readonly source: AnswerSource & { readonly error: StoreUnavailableError };
}

export const isDegraded = (answer: Answer): answer is DegradedAnswer => answer.source?.error !== undefined;

export const degraded = (answer: Answer, source: DegradedAnswer['source']): DegradedAnswer => ({
  ...answer,
  source,
});

/** Decides a call by the fallback that decided another one. */
export async function decideByFallback({ source }: DegradedAnswer, call: Call): Promise<DegradedAnswer> {
  return degraded(await source.decider.decide(call), source);
}

/**
 * The same answer, `micros` later and with `more` permits left. Objects are written out: spreading them takes longer than all the
 * rest of a cached answer.
 */
export function shiftAnswer(answer: Answer, micros: number, source: AnswerSource, more = 0): Answer {
  const { allowed, queued, now, wait } = answer;
  const parts: PartAnswer[] = [];
  for (const { remaining, wait, reset, at, override, blocked } of answer.parts) {
    const part = {
      remaining: remaining + more,
      wait: less(wait, micros),
      reset: less(reset, micros),
      at,
      override,
    };
    parts.push(blocked === undefined ? part : { ...part, blocked: less(blocked, micros) });
  }
  return { allowed, queued, now: now + micros, wait: less(wait, micros), parts, source };
}

const less = (time: number, micros: number): number => (time === NEVER ? NEVER : Math.max(0, time - micros));

/**
 * One part for each storage key, with the sum of the costs: a store decides each key once. Members of a combination may have the same key,
 * such as sender and receiver of a message to oneself.
 */
export function mergeByKey(parts: readonly Part[]): readonly Part[] {
  if (!haveCommonKey(parts)) return parts;
  const sums = new Map<string, Part>();
  for (const part of parts) {
    const key = storageKey(part);
    const cost = Math.min((sums.get(key)?.cost ?? 0) + part.cost, Number.MAX_SAFE_INTEGER);
    sums.set(key, { ...part, cost });
  }
  return [...sums.values()];
}

/** The answer for all parts, from the answer for the merged ones. */
export function splitByPart(parts: readonly Part[], merged: readonly Part[], answer: Answer): Answer {
  if (merged.length === parts.length) return answer;
  const keys = merged.map(storageKey);
  return { ...answer, parts: parts.map((part) => answer.parts[keys.indexOf(storageKey(part))]!) };
}

/** Compares pairs, because to join the storage keys costs more than to decide one. */
function haveCommonKey(parts: readonly Part[]): boolean {
  for (let i = 1; i < parts.length; i += 1) {
    for (let j = 0; j < i; j += 1) if (isOneKey(parts[i]!, parts[j]!)) return true;
  }
  return false;
}

function isOneKey(one: Part, other: Part): boolean {
  const { prefix, suffix } = one.limit;
  const isSuffix = suffix === other.limit.suffix;
  if (isSuffix && prefix === other.limit.prefix) return one.key === other.key;
  if (isSuffix && one.key === other.key) return false;
  return lengthOf(one) === lengthOf(other) && storageKey(one) === storageKey(other);
}

const lengthOf = ({ limit: { prefix, suffix }, key }: Part): number =>
  prefix.length + key.length + suffix.length;

/** The call, by limits that count no denial for an escalation: its caller does not enforce the decision. */
export function shadowCall(call: KeyCall): KeyCall {
  const { parts } = call;
  if (parts.every(({ limit }) => limit.shadow === undefined)) return call;
  const { operation, wait, traced, overrides } = call;
  const plain = parts.map(({ limit, key, cost, at }) => {
    return { limit: { ...limit, ...limit.shadow }, key, cost, at };
  });
  return KeyCall.of({ operation, wait, parts: plain, traced, overrides });
}

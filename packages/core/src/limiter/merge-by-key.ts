import { type Answer, storageKey } from '../engine/call.js';
import type { PolicyPart } from '../pipeline/policy-limit.js';

/**
 * One part for each storage key, with the sum of the costs: a store decides each key once. Members of a combination may have the same key,
 * such as sender and receiver of a message to oneself.
 */
export function mergeByKey(parts: readonly PolicyPart[]): readonly PolicyPart[] {
  if (parts.length === 1 || new Set(parts.map(storageKey)).size === parts.length) return parts;
  const sums = new Map<string, PolicyPart>();
  for (const part of parts) {
    const key = storageKey(part);
    const cost = Math.min((sums.get(key)?.cost ?? 0) + part.cost, Number.MAX_SAFE_INTEGER);
    sums.set(key, { ...part, cost });
  }
  return [...sums.values()];
}

/** The answer for all parts, from the answer for the merged ones. */
export function splitByPart(
  parts: readonly PolicyPart[],
  merged: readonly PolicyPart[],
  answer: Answer,
): Answer {
  if (merged.length === parts.length) return answer;
  const keys = merged.map(storageKey);
  return { ...answer, parts: parts.map((part) => answer.parts[keys.indexOf(storageKey(part))]!) };
}

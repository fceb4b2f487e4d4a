import { type Answer, storageKey } from '../engine/call.js';
import type { PolicyPart } from '../pipeline/policy-limit.js';

/**
 * One part for each storage key. Members of a combination may meet in one key (a message of a user to himself): its permits count
 * for both then, and a store decides each key once.
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

/** The answer for all parts, from that for each storage key. */
export function splitByPart(
  parts: readonly PolicyPart[],
  merged: readonly PolicyPart[],
  answer: Answer,
): Answer {
  if (merged.length === parts.length) return answer;
  const keys = merged.map(storageKey);
  return { ...answer, parts: parts.map((part) => answer.parts[keys.indexOf(storageKey(part))]!) };
}

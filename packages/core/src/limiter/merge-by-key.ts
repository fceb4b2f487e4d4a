import { type Answer, storageKey } from '../engine/call.js';
import type { PolicyPart } from '../pipeline/policy-limit.js';

/**
 * One part for each key. Members of a combination may meet in one key (a message of a user to himself): its permits count for
 * both then, and a store decides each key once.
 */
export function byKey(parts: readonly PolicyPart[]): readonly PolicyPart[] {
  if (parts.length === 1 || new Set(parts.map(storageKey)).size === parts.length) return parts;
  const sums = new Map<string, PolicyPart>();
  for (const part of parts) {
    const key = storageKey(part);
    const cost = Math.min((sums.get(key)?.cost ?? 0) + part.cost, Number.MAX_SAFE_INTEGER);
    sums.set(key, { ...part, cost });
  }
  return [...sums.values()];
}

/** The answer for all parts, from that for each key. */
export function forEach(parts: readonly PolicyPart[], keys: readonly PolicyPart[], answer: Answer): Answer {
  if (keys.length === parts.length) return answer;
  const places = keys.map(storageKey);
  return { ...answer, parts: parts.map((part) => answer.parts[places.indexOf(storageKey(part))]!) };
}

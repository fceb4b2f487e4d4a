import type { Answer } from '../engine/call.js';
import type { NamedPart } from './decision-record.js';

/**
 * One part for each key. Members of a combination may meet in one key (a message of a user to himself): its permits count for
 * both then, and a store decides each key once.
 */
export function byKey(parts: readonly NamedPart[]): readonly NamedPart[] {
  if (parts.length === 1 || new Set(parts.map(({ key }) => key)).size === parts.length) return parts;
  const sums = new Map<string, NamedPart>();
  for (const part of parts) {
    const cost = Math.min((sums.get(part.key)?.cost ?? 0) + part.cost, Number.MAX_SAFE_INTEGER);
    sums.set(part.key, { ...part, cost });
  }
  return [...sums.values()];
}

/** The answer for all parts, from that for each key. */
export function forEach(parts: readonly NamedPart[], keys: readonly NamedPart[], answer: Answer): Answer {
  if (keys.length === parts.length) return answer;
  return {
    ...answer,
    parts: parts.map(({ key }) => answer.parts[keys.findIndex((part) => part.key === key)]!),
  };
}

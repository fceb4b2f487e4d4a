import { type Answer, type Part, storageKey } from './call.js';

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

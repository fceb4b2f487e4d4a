import type { Store } from '@sluice/core';
import { warnOnce } from '@sluice/core/internal';
import type { RuleSet } from '../rule-set.js';

interface Use {
  readonly current: () => RuleSet;
  /** The identity of the source that the rules follow; undefined if they follow none. */
  readonly followed: unknown;
}

const uses = new WeakMap<Store, Set<Use>>();

/**
 * Warns if other open rules of the same name count in the same store, and a rule of both has different limits: the numbers of a request
 * then depend on which of them decides it. Rules that follow one source may differ for a moment, so they are not compared, nor are later
 * versions.
 * @param followed the identity of the source that the rules follow, if any
 * @returns a function that ends the use
 */
export function useRules(store: Store, current: () => RuleSet, followed?: unknown): () => void {
  const open = uses.get(store) ?? new Set();
  uses.set(store, open);
  const set = current();
  for (const other of open) {
    if (followed !== undefined && followed === other.followed) continue;
    const rule = differing(set, other.current());
    if (rule === undefined) continue;
    warnOnce(
      'SLUICE_SAME_NAME',
      `rules ${set.name}`,
      `Two open documents of rules named '${set.name}' in one store have different limits in rule '${rule}', and share one count for each ` +
        'key. Give each document its own name, or close the first before you create the second',
    );
  }
  const use = { current, followed };
  open.add(use);
  return () => open.delete(use);
}

/** The name of a rule that both documents have, with other limits. */
function differing(one: RuleSet, other: RuleSet): string | undefined {
  if (one.name !== other.name) return undefined;
  return one.rules.find((rule) => {
    const same = other.rule(rule.name);
    return same !== undefined && limitsOf(rule) !== limitsOf(same);
  })?.name;
}

const limitsOf = ({ numbers }: RuleSet['rules'][number]): string => JSON.stringify([...numbers.values()]);

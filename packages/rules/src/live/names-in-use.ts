import type { Store } from '@sluice/core';
import { warnOnce } from '@sluice/core/http';
import type { RuleSet } from '../rule-set.js';

type Current = () => RuleSet;

const uses = new WeakMap<Store, Set<Current>>();

/**
 * Warns if other open rules of the same name count in the same store, and a rule of both has different limits: the numbers of a request
 * then depend on which of them decides it. Rules that follow one source may differ for a moment, so later versions are not compared.
 * @returns a function that ends the use
 */
export function useRules(store: Store, current: Current): () => void {
  const open = uses.get(store) ?? new Set();
  uses.set(store, open);
  const set = current();
  for (const other of open) {
    const rule = differing(set, other());
    if (rule === undefined) continue;
    warnOnce(
      'SLUICE_SAME_NAME',
      `rules ${set.name}`,
      `Two open documents of rules named '${set.name}' in one store have different limits in rule '${rule}', and share one count for each ` +
        'key. Give each document its own name, or close the first before you create the second',
    );
  }
  open.add(current);
  return () => open.delete(current);
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

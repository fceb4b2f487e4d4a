import type { Decision, PolicyDecision } from '../../decision.js';

interface Entry<T> {
  readonly name: string;
  readonly policies: readonly PolicyDecision[];
  readonly made: T;
}

/** Sets of policies that one limit uses in turn, such as those of guests and of paying users. */
const MAX_ENTRIES = 8;

/** Caches what depends on a limiter's policies alone, and not on what is left of them: most limiters have one set for ever. */
export function oncePerPolicies<T>(make: (decision: Decision) => T): (decision: Decision) => T {
  const entries: Entry<T>[] = [];
  let next = 0;
  return (decision) => {
    const { name, policies } = decision;
    for (const entry of entries) {
      if (entry.name === name && samePolicies(entry.policies, policies)) return entry.made;
    }
    const made = make(decision);
    entries[next] = { name, policies, made };
    next = (next + 1) % MAX_ENTRIES;
    return made;
  };
}

function samePolicies(some: readonly PolicyDecision[], others: readonly PolicyDecision[]): boolean {
  if (some.length !== others.length) return false;
  for (let i = 0; i < some.length; i += 1) {
    const [one, other] = [some[i]!, others[i]!];
    if (
      one.name !== other.name ||
      one.limit !== other.limit ||
      one.window !== other.window ||
      one.held !== other.held
    )
      return false;
  }
  return true;
}

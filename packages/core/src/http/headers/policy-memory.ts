import type { Decision, PolicyDecision } from '../../limiter/decision.js';

interface Remembered<T> {
  readonly name: string;
  readonly policies: readonly PolicyDecision[];
  readonly made: T;
}

/** How many sets of numbers a limiter has in turn, such as those of guests and of paying users. */
const MOST = 8;

/**
 * Makes what depends on a limiter's policies alone, and not on what is left of them, once for each set of policies: most
 * limiters have one for ever.
 */
export function oncePerPolicies<T>(make: (decision: Decision) => T): (decision: Decision) => T {
  const remembered: Remembered<T>[] = [];
  let next = 0;
  return (decision) => {
    const { name, policies } = decision;
    for (const one of remembered) {
      if (one.name === name && samePolicies(one.policies, policies)) return one.made;
    }
    const made = make(decision);
    remembered[next] = { name, policies, made };
    next = (next + 1) % MOST;
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

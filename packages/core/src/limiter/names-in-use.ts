import type { Policy } from '../algorithms/algorithm.js';
import type { Store } from '../stores/store.js';
import { warnOnce } from '../warnings.js';

/** The most limits of one store that are tracked: limits created at run time must not fill the memory. */
const MOST = 1000;

/** A name in use: its policy as text, and the number of limiters that use it. */
interface Use {
  readonly policy: string;
  limiters: number;
}

const uses = new WeakMap<Store, Map<string, Use>>();

/**
 * Warns if two open limiters use the same storage keys with different policies: the limit of a call then depends on which limiter it
 * meets.
 * @param policies the policies of a limiter, by the prefix of their storage keys
 * @returns a function that ends the use of the name
 */
export function useNames(store: Store, limiter: string, policies: ReadonlyMap<string, Policy>): () => void {
  const known = uses.get(store) ?? new Map<string, Use>();
  uses.set(store, known);
  const counted: [string, Use][] = [];
  for (const [prefix, given] of policies) {
    const policy = JSON.stringify(given);
    let use = known.get(prefix);
    if (use === undefined) {
      if (known.size >= MOST) continue;
      use = { policy, limiters: 0 };
      known.set(prefix, use);
    } else if (use.policy !== policy) {
      warnOnce('SLUICE_SAME_NAME', limiter, sameName(limiter, use.policy, policy));
      continue;
    }
    use.limiters += 1;
    counted.push([prefix, use]);
  }
  return () => {
    for (const [prefix, use] of counted.splice(0)) {
      use.limiters -= 1;
      if (use.limiters === 0 && known.get(prefix) === use) known.delete(prefix);
    }
  };
}

const sameName = (limiter: string, one: string, other: string): string =>
  `Two limiters named '${limiter}' in one store have different policies, ${one} and ${other}, and share one count for each key. ` +
  'Give each limiter its own name, or close the first before you create the second';

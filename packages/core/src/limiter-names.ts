import type { Policy } from './algorithms/algorithm.js';
import type { Store } from './stores/store.js';
import { warnOnce } from './warnings.js';

/** Limits of one store that are known by name; limits made at run time must not fill the memory. */
const MOST = 1000;

/** What counts under one name: the policy as text, and how many limiters use it. */
interface Use {
  readonly policy: string;
  limiters: number;
}

const uses = new WeakMap<Store, Map<string, Use>>();

/**
 * Warns when two limiters that are open at once count under the same storage keys with different numbers: each call is then held to another
 * limit than the one before, depending on which limiter it meets.
 * @param places the policies of a limiter by the storage keys that they count under
 * @returns ends the use of the name
 */
export function useNames(store: Store, limiter: string, places: ReadonlyMap<string, Policy>): () => void {
  const known = uses.get(store) ?? new Map<string, Use>();
  uses.set(store, known);
  const mine: [string, Use][] = [];
  for (const [place, given] of places) {
    const policy = JSON.stringify(given);
    let use = known.get(place);
    if (use === undefined) {
      if (known.size >= MOST) continue;
      use = { policy, limiters: 0 };
      known.set(place, use);
    } else if (use.policy !== policy) {
      warnOnce('SLUICE_SAME_NAME', limiter, sameName(limiter, use.policy, policy));
      continue;
    }
    use.limiters += 1;
    mine.push([place, use]);
  }
  return () => {
    for (const [place, use] of mine.splice(0)) {
      use.limiters -= 1;
      if (use.limiters === 0 && known.get(place) === use) known.delete(place);
    }
  };
}

const sameName = (limiter: string, one: string, other: string): string =>
  `Two limiters named '${limiter}' in one store have different policies, ${one} and ${other}, and share one count for each key. ` +
  'Give each limiter a name of its own, or close the first before you make the second';

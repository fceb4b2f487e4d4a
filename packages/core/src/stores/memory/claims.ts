import { RecentMap } from '../../maps.js';

const MOST = 100_000;

/**
 * What was claimed in this process; see `Store.claim`.
 * @param clock µs
 */
export function claimsOf(clock: () => number): (key: string, ms: number) => Promise<boolean> {
  /** Until when, µs. */
  const claims = new RecentMap<string, number>(MOST, () => false);
  return async (key, ms) => {
    const now = clock();
    if ((claims.get(key) ?? 0) > now) return false;
    claims.set(key, now + ms * 1000);
    return true;
  };
}

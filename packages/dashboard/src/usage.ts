import type { Store } from '@sluice/core';
import { type LeftOut, type LimiterUsageReport, readUsage } from '@sluice/fleet';
import { ownerOfCounted } from '@sluice/fleet/internal';
import type { LimiterInfo, SlotCounts, TopKey, Usage } from './messages.js';
import { shownKey } from './shown-key.js';

/** Length of a slot of `readUsage`, ms. */
const SLOT = 10_000;
/** The most keys that are listed. */
const MOST = 50;

/** @param leftOut receives texts that cannot be read @throws StoreUnavailableError, StoreConfigurationError */
export async function usageOf(
  store: Store,
  limiters: readonly LimiterInfo[],
  leftOut: (note: LeftOut) => void,
): Promise<Usage> {
  const { limiters: reports, processes, refused } = await readUsage(store);
  refused.forEach(leftOut);
  if (processes.length === 0 && store.usage === undefined) return null;
  return {
    end: Date.now() - SLOT / 2,
    step: SLOT,
    processes: processes.length,
    limiters: Object.fromEntries(reports.map((report) => [report.limiter, slotsOf(report)])),
    denied: topKeys(reports, limiters),
  };
}

/** The complete slots: all except the newest. */
function slotsOf({ decisions: { allowed, denied }, span }: LimiterUsageReport): SlotCounts {
  // Slots cover a longer time than the lists of keys, which cover `span`.
  const firstCall = allowed.findIndex((count, i) => count + denied[i]! > 0);
  const spanned = allowed.length - Math.floor(span / SLOT);
  const start = firstCall < 0 ? spanned : Math.min(spanned, firstCall);
  const counted = (counts: readonly number[]) =>
    counts.slice(0, -1).map((count, i) => (i < start ? null : count));
  return { allowed: counted(allowed), denied: counted(denied) };
}

function topKeys(reports: readonly LimiterUsageReport[], limiters: readonly LimiterInfo[]): TopKey[] {
  const all = reports.flatMap(({ limiter, denied }) =>
    denied.map(({ key, scope, policy, count, error }) => {
      const { name, owner = name } = ownerOfCounted(limiters, limiter, scope);
      return { limiter, owner, ...(policy !== undefined && { policy }), key: shownKey(key), count, error };
    }),
  );
  return all.sort((a, b) => b.count - a.count).slice(0, MOST);
}

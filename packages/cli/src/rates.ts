import type { KeyUse, LimiterUsageReport } from '@sluice/fleet';
import { SLOT_MS } from '@sluice/fleet/internal';

/** Length of a slot, s. */
const SLOT = SLOT_MS / 1_000;

/** The rates of one limiter, calls per second. */
export interface Rates {
  readonly limiter: string;
  /** `shadow`: decided but not enforced, as in a dry run or by a shadow rule. */
  readonly mode: 'enforce' | 'shadow';
  readonly allowed: number;
  readonly denied: number;
  readonly errors: number;
  /** Share of denied calls, 0 to 1. */
  readonly share: number;
  /** Use by keys in the last 10 to 15 minutes. Only with `keyUse` in the option `usage`. */
  readonly keyUse: KeyUse | undefined;
}

/** Up to this time, s, the span of a report is the time since the limiter's first call. Later it can be shorter. */
const EXACT_SPAN = 600;

/** The slots of a rate, without the incomplete latest slot; and their length, s. */
function slotsOf(span: number, seconds: number) {
  const slots = Math.max(1, Math.round(seconds / SLOT));
  // All calls so far, over the time since the first one.
  if (span < Math.min(EXACT_SPAN, (slots + 1) * SLOT))
    return { from: 0, to: undefined, length: Math.max(1, span) };
  return { from: -slots - 1, to: -1, length: slots * SLOT };
}

/** @param seconds length of the period before now */
export function ratesOf(
  { limiter, decisions, shadowDecisions, keyUse, shadowKeyUse, span }: LimiterUsageReport,
  seconds: number,
  mode: Rates['mode'] = 'enforce',
): Rates {
  const { from, to, length } = slotsOf(span / 1_000, seconds);
  const counted = mode === 'shadow' ? shadowDecisions : decisions;
  const perSecond = (counts: readonly number[]) =>
    counts.slice(from, to).reduce((sum, one) => sum + one, 0) / length;
  const [allowed, denied] = [perSecond(counted.allowed), perSecond(counted.denied)];
  const errors = perSecond(counted.error);
  return {
    ...{ limiter, mode, allowed, denied, errors },
    share: denied === 0 ? 0 : denied / (allowed + denied),
    keyUse: mode === 'shadow' ? shadowKeyUse : keyUse,
  };
}

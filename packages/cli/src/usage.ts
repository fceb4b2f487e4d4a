import { decodeKey } from '@sluice/core/internal';
import { type KeyUse, type LimiterUsageReport, readUsage, type UsageReport } from '@sluice/fleet';
import { CliError } from './cli-error.js';
import type { Context } from './command.js';
import type { Fleet } from './fleet.js';
import { ownerOfCounted } from './owners.js';

/** Length of a slot of the counts, s. */
const SLOT = 10;

/** The counts of processes with the option `usage`. @throws CliError without such a process */
export async function usageOf({ store, ask, notes }: Context): Promise<UsageReport> {
  const usage = await ask(readUsage(store));
  usage.refused.forEach(notes.leftOut);
  if (usage.processes.length > 0) return usage;
  throw new CliError(
    'No process has counted its calls in the last 15 minutes.',
    'Turn it on in your processes: redisStore({ url, usage: true }). It appears ten seconds after the first call. ' +
      'sluice tail shows denials without it.',
    1,
  );
}

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

/** The modes that a limiter used: enforced and shadow decisions. */
function ratesOfModes(report: LimiterUsageReport, seconds: number): Rates[] {
  const used = (counts: LimiterUsageReport['decisions']) =>
    Object.values(counts).some((slots: readonly number[]) => slots.some((count) => count > 0));
  const shadow = used(report.shadowDecisions) ? [ratesOf(report, seconds, 'shadow')] : [];
  // A limiter without any call has a row, too.
  const isShadowOnly = shadow.length > 0 && !used(report.decisions);
  return isShadowOnly ? shadow : [ratesOf(report, seconds), ...shadow];
}

/** `12.3`, `0.05`, `1234`. */
export const rate = (perSecond: number): string =>
  perSecond >= 100
    ? perSecond.toFixed(0)
    : perSecond >= 1
      ? perSecond.toFixed(1)
      : perSecond === 0
        ? '0'
        : perSecond.toFixed(2);

export const percent = (share: number): string =>
  `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

/**
 * The heads and rows of a table of rates, the most denied first. Shadow decisions have their own rows.
 * @param only the limiter to show; default all
 */
export function rateRows(
  usage: UsageReport,
  seconds: number,
  only?: string,
): { heads: string[]; rows: string[][]; rates: Rates[] } {
  const modes = usage.limiters
    .filter(({ limiter }) => only === undefined || limiter === only)
    .map((limiter) => ratesOfModes(limiter, seconds));
  modes.sort(([one], [other]) => other!.denied - one!.denied || other!.allowed - one!.allowed);
  const rates = modes.flat();
  const rows = rates.map(({ limiter, mode, allowed, denied, errors, share }) => [
    named(limiter, mode),
    rate(allowed),
    rate(denied),
    percent(share),
    rate(errors),
  ]);
  return { heads: ['LIMITER', 'ALLOWED/S', 'DENIED/S', 'DENIED', 'ERRORS/S'], rows, rates };
}

const named = (limiter: string, mode: Rates['mode']): string =>
  mode === 'shadow' ? `${limiter} (shadow)` : limiter;

/** The keys of each limit, with quantiles of their highest use. */
export function keyUseRows(rates: readonly Rates[]): { heads: string[]; rows: string[][] } {
  const rows = rates.flatMap(({ limiter, mode, keyUse }) =>
    (keyUse?.policies ?? []).map(({ policy, keys, use: { p50, p90, p99, max } }) => [
      named(policy === undefined ? limiter : `${limiter} ${policy}`, mode),
      keyUse!.error === 0 ? String(keys) : `${keys} ± ${Math.ceil(keyUse!.error * keys)}`,
      ...[p50, p90, p99, max].map((share) => `${Math.round(share * 100)} %`),
    ]),
  );
  return { heads: ['LIMIT', 'KEYS', 'USE P50', 'P90', 'P99', 'MAX'], rows };
}

export type TopList = 'denied' | 'shadowDenied' | 'costly';

/**
 * The heaviest keys of all limiters, or of one. Limiters and keys have the names that other commands accept. Digests stay digests.
 * @param only a limiter or a combination
 */
export function topRows(usage: UsageReport, fleet: Fleet, list: TopList, most: number, only?: string) {
  const found = usage.limiters
    .flatMap((report) =>
      report[list].map(({ scope, key, ...counts }) => ({
        ...ownerOfCounted(fleet, report.limiter, scope),
        key: decodeKey(key) ?? key,
        ...counts,
      })),
    )
    .filter(({ limiter, combination }) => only === undefined || limiter === only || combination === only)
    .sort((one, other) => other.count - one.count)
    .slice(0, most);
  const rows = found.map(({ limiter, key, count, error }) => [
    limiter,
    key,
    error === 0 ? String(count) : `${count - error}–${count}`,
  ]);
  return { heads: ['LIMITER', 'KEY', list === 'costly' ? 'PERMITS' : 'DENIED'], rows, found };
}

import { decodeKey } from '@sluice/core/internal';
import { type LimiterUsageReport, readUsage, type UsageReport } from '@sluice/fleet';
import { CliError } from './cli-error.js';
import type { Context } from './command.js';
import { axesOf, axisName, type Fleet, metersOf } from './fleet.js';
import { type Owner, ownerOfCounted } from './owners.js';
import { type Rates, ratesOf } from './rates.js';

/** The counts of processes with the option `usage`, of which there may be none. */
export async function countsOf({ store, ask, notes }: Context): Promise<UsageReport> {
  const usage = await ask(readUsage(store));
  usage.refused.forEach(notes.leftOut);
  return usage;
}

/** The same. @throws CliError without such a process */
export async function usageOf(context: Context): Promise<UsageReport> {
  const usage = await countsOf(context);
  if (usage.processes.length > 0) return usage;
  throw new CliError(
    'No process has counted its calls in the last 15 minutes.',
    'Turn it on in your processes: redisStore({ url, usage: true }). It appears ten seconds after the first call. ' +
      'sluice tail shows denials without it.',
    1,
  );
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

export type TopList = 'denied' | 'recentlyDenied' | 'shadowDenied' | 'costly';

/** A key of a list, under the name that other commands accept. */
export interface ListedKey extends Owner {
  readonly key: string;
  readonly count: number;
  readonly error: number;
  /** The policy that denied it last. Absent for a limiter with one policy. */
  readonly policy?: string | undefined;
}

/**
 * The heaviest keys of all limiters, or of one. Limiters and keys have the names that other commands accept. Digests stay digests. What axes of
 * meters took is in `spentRows`.
 * @param only a limiter, a combination or a meter
 */
export function topRows(usage: UsageReport, fleet: Fleet, list: TopList, most: number, only?: string) {
  const axes = axesOf(fleet, only ?? '');
  const spent = list === 'costly' ? axesOf(fleet) : new Set<string>();
  const found = heaviest(
    usage,
    fleet,
    list,
    most,
    ({ limiter, combination }) =>
      !spent.has(limiter) &&
      (only === undefined || limiter === only || combination === only || axes.has(limiter)),
  );
  return { ...keyRows(found, list === 'costly' ? 'PERMITS' : 'DENIED'), found };
}

function heaviest(
  usage: UsageReport,
  fleet: Fleet,
  list: TopList,
  most: number,
  isListed: (owner: Owner) => boolean,
): ListedKey[] {
  return usage.limiters
    .flatMap((report) =>
      report[list].map(({ scope, key, ...counts }) => ({
        ...ownerOfCounted(fleet, report.limiter, scope),
        key: decodeKey(key) ?? key,
        ...counts,
      })),
    )
    .filter(isListed)
    .sort((one, other) => other.count - one.count)
    .slice(0, most);
}

/** A key and what it spent of an axis of a meter. */
export interface SpendingKey extends ListedKey {
  readonly meter: string;
  readonly axis: string;
}

/** The keys that spent most of each axis: amounts of two axes cannot be compared. @param only a meter, or an axis such as `ai:usd` */
export function spentRows(usage: UsageReport, fleet: Fleet, most: number, only?: string) {
  const axes = new Map<string, readonly [meter: string, axis: string]>();
  for (const { definition } of metersOf(fleet))
    for (const axis of Object.keys(definition.meter!.axes))
      axes.set(axisName(definition.name, axis), [definition.name, axis]);
  const found = [...axes].flatMap(([name, [meter, axis]]): SpendingKey[] =>
    only === undefined || only === name || only === meter
      ? heaviest(usage, fleet, 'costly', most, ({ limiter }) => limiter === name).map((one) => ({
          meter,
          axis,
          ...one,
        }))
      : [],
  );
  const rows = found.map((one, i) => {
    const isFirst = found[i - 1]?.limiter !== one.limiter;
    return [isFirst ? one.meter : '', isFirst ? one.axis : '', one.key, amountText(one)];
  });
  return { heads: ['METER', 'AXIS', 'KEY', 'SPENT'], rows, found };
}

const amountText = ({ count, error }: ListedKey): string =>
  error === 0 ? String(count) : `${count - error}–${count}`;

/** The heads and rows of a table of keys. Policies have a column if a limiter has several. */
export function keyRows(found: readonly ListedKey[], what: string): { heads: string[]; rows: string[][] } {
  const several = found.some(({ policy }) => policy !== undefined);
  const rows = found.map((one) => [
    one.limiter,
    ...(several ? [one.policy ?? ''] : []),
    one.key,
    amountText(one),
  ]);
  return { heads: ['LIMITER', ...(several ? ['POLICY'] : []), 'KEY', what], rows };
}

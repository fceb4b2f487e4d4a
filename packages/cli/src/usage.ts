import { type LimiterUsageReport, readUsage, type UsageReport } from '@sluice/core';
import { CliError } from './cli-error.js';
import type { Context } from './command.js';
import { shown } from './text.js';

/** Length of a slot of the counts, s. */
const SLOT = 10;

/** What processes with the option `usage` counted. @throws CliError if there are none */
export async function usageOf({ store, ask }: Context): Promise<UsageReport> {
  const usage = await ask(readUsage(store));
  if (usage.processes.length > 0) return usage;
  throw new CliError(
    'No process has counted its calls in the last 15 minutes.',
    'Turn it on in your processes: redisStore({ url, usage: true }). It appears ten seconds after the first call.',
    1,
  );
}

/** Calls a second of one limiter. */
export interface Rates {
  readonly limiter: string;
  readonly allowed: number;
  readonly denied: number;
  readonly errors: number;
  /** Share of denied calls, 0 to 1. */
  readonly share: number;
}

/** @param seconds how far back, without the slot under way, which is not complete */
export function ratesOf({ limiter, decisions }: LimiterUsageReport, seconds: number): Rates {
  const slots = Math.max(1, Math.round(seconds / SLOT));
  const perSecond = (counts: readonly number[]) =>
    counts.slice(-slots - 1, -1).reduce((sum, one) => sum + one, 0) / (slots * SLOT);
  const [allowed, denied] = [perSecond(decisions.allowed), perSecond(decisions.denied)];
  const errors = perSecond(decisions.error);
  return { limiter, allowed, denied, errors, share: denied === 0 ? 0 : denied / (allowed + denied) };
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

/** The heads and rows of a table of rates, the most denied first. */
export function rateRows(
  usage: UsageReport,
  seconds: number,
): { heads: string[]; rows: string[][]; rates: Rates[] } {
  const rates = usage.limiters.map((limiter) => ratesOf(limiter, seconds));
  rates.sort((one, other) => other.denied - one.denied || other.allowed - one.allowed);
  const rows = rates.map(({ limiter, allowed, denied, errors, share }) => [
    shown(limiter),
    rate(allowed),
    rate(denied),
    percent(share),
    rate(errors),
  ]);
  return { heads: ['LIMITER', 'ALLOWED/S', 'DENIED/S', 'DENIED', 'ERRORS/S'], rows, rates };
}

export type TopList = 'denied' | 'costly';

/** The heaviest keys of all limiters, or of one. */
export function topRows(usage: UsageReport, list: TopList, most: number, limiter?: string) {
  const found = usage.limiters
    .filter((report) => limiter === undefined || report.limiter === limiter)
    .flatMap((report) => report[list].map((key) => ({ limiter: report.limiter, ...key })))
    .sort((one, other) => other.count - one.count)
    .slice(0, most);
  const rows = found.map(({ limiter: of, scope, key, count, error }) => [
    shown(scope === undefined ? of : `${of} (${scope})`),
    shown(key),
    error === 0 ? String(count) : `${count - error}–${count}`,
  ]);
  return { heads: ['LIMITER', 'KEY', list === 'denied' ? 'DENIED' : 'PERMITS'], rows, found };
}

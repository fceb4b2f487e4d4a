import { decodeKey } from '@sluice/core/internal';
import { type DenialReport, type FleetDenial, lengthText } from '@sluice/fleet';
import type { Output } from './output.js';
import type { OwnedDenial } from './owners.js';
import { processText, shownKey } from './text.js';
import { count, timeOf } from './words.js';

/** A key in its original form, or its digest if only the digest is known. */
const keyOf = ({ key }: FleetDenial): string => decodeKey(key) ?? key;

/** One line for people, also for a hostile key. */
export function denialLine(output: Output, denial: OwnedDenial, report: DenialReport): string {
  const { at, limiter, policy, cost } = denial;
  return [
    output.style('dim', timeOf(at * 1_000, Date.now() * 1_000)),
    policy === limiter ? limiter : `${limiter} ${policy}`,
    output.style('bold', shownKey(keyOf(denial))),
    output.style(denial.mode === 'shadow' ? 'yellow' : 'red', resultOf(denial)),
    passesOf(denial),
    `cost ${cost}`,
    output.style('dim', processText(report)),
  ].join('  ');
}

function resultOf({ mode, count: times, degraded, source }: FleetDenial): string {
  const result = mode === 'shadow' ? 'would be denied' : 'denied';
  const notes = degraded ? ` (store out: ${source})` : '';
  return `${result}${times > 1 ? ` ×${times}` : ''}${notes}`;
}

function passesOf({ at, retryAfter }: FleetDenial): string {
  if (retryAfter === null) return 'never passes';
  return `passes at ${timeOf((at + retryAfter) * 1_000, Date.now() * 1_000)}, in ${lengthText(retryAfter)}`;
}

/** A line for the denials that a process omitted. */
export const omittedLine = (output: Output, report: DenialReport): string =>
  output.style('dim', `… and ${count(report.omitted, 'more denial')} from ${processText(report)}`);

/** Moments and durations in µs, as in all commands. */
export function denialJson(denial: OwnedDenial, { process, host, pid }: DenialReport): object {
  const { at, retryAfter } = denial;
  const micros = retryAfter === null ? null : retryAfter * 1_000;
  return { ...denial, at: at * 1_000, key: keyOf(denial), retryAfter: micros, process, host, pid };
}

import type { Difference, ReplayReport, RuleReport, Simulation } from '@sluice/rules/simulate';
import { percent } from '../usage.js';
import { count, policyOf } from '../words.js';

type Rows = readonly [heads: string[], rows: string[][]];

/** The most keys that are shown of each rule. */
const MOST_KEYS = 5;

export const shareText = (part: number, whole: number): string => percent(whole === 0 ? 0 : part / whole);

const named = (limit: string, plan: string | undefined): string =>
  plan === undefined ? limit : `${limit}, ${plan}`;

/** A table of the rules, each with its limits if it has several. */
export function limitRows({ rules }: ReplayReport): Rows {
  const heads = ['LIMIT', 'REQUESTS', 'DENIED', 'SHARE', 'KEYS', 'USE P50', 'P90', 'P99', 'MAX'];
  const use = (share: number) => `${Math.round(share * 100)} %`;
  const rows = rules.flatMap((rule) => {
    const { requests, denied, keys, moreKeys, limits, mode, compare } = rule;
    const several = limits.length !== 1;
    const shadow = mode === 'enforce' ? '' : compare === undefined ? ' (shadow)' : ` (shadow of ${compare})`;
    const own = [
      `${rule.rule}${shadow}`,
      ...[`${requests}`, `${denied}`, shareText(denied, requests), moreKeys ? `> ${keys}` : `${keys}`],
    ];
    const uses = limits.map(({ use: { p50, p90, p99, max } }) => [p50, p90, p99, max].map(use));
    if (!several) return [[...own, ...uses[0]!]];
    const parts = limits.map((limit, i) => [
      `  ${named(limit.limit, limit.plan)}`,
      ...[`${limit.requests}`, `${limit.denied}`, shareText(limit.denied, limit.requests), `${limit.keys}`],
      ...uses[i]!,
    ]);
    return [[...own, '', '', '', ''], ...parts];
  });
  return [heads, rows];
}

const countText = (requests: number, error: number): string =>
  error === 0 ? `${requests}` : `${requests - error}–${requests}`;

/** A table of the most denied keys. */
export function hitRows(rules: readonly RuleReport[]): Rows {
  const rows = rules.flatMap(({ rule, hit }) =>
    hit.slice(0, MOST_KEYS).map(({ key, requests, error }) => [rule, countText(requests, error), key]),
  );
  return [['RULE', 'DENIED', 'KEY'], rows];
}

/** A table of the keys that a difference concerns. */
export function differenceRows({ keys }: Difference): Rows {
  const rows = keys.map(({ rule, key, requests, error }) => [rule, countText(requests, error), key]);
  return [['RULE', 'REQUESTS', 'KEY'], rows];
}

/** A table of the smallest limits for a target. */
export function smallestRows({ rules }: ReplayReport, target: number): Rows {
  const rows = rules.flatMap(({ limits }) =>
    limits.flatMap(({ limit, plan, policy, requests, smallest }) => {
      if (smallest === undefined) return [];
      const { policy: found, denied = 0 } = smallest;
      const text = found === undefined ? 'none is large enough' : policyOf(found);
      return [[named(limit, plan), policyOf(policy), text, shareText(denied, requests)]];
    }),
  );
  return [['LIMIT', 'NOW', `FOR AT MOST ${Number((target * 100).toFixed(6))} %`, 'DENIES'], rows];
}

/** Notes on the figures, as sentences. */
export function notesOf({ log, rules, against }: Simulation): string[] {
  const notes: string[] = [];
  for (const { name, damage } of log.files) {
    if (damage !== undefined) notes.push(`${name} is damaged and was read up to there: ${damage}.`);
  }
  if (log.bad > 0) {
    const [first] = log.firstBad;
    notes.push(
      `${count(log.bad, 'line is', 'lines are')} not requests: line ${first!.line} of ${first!.file} ${first!.reason}.`,
    );
  }
  if (log.late > 0) {
    const late = `${count(log.late, 'request was', 'requests were')} too far out of order`;
    notes.push(`${late} and decided a little later than they came in: see --sort-within.`);
  }
  for (const { rule, unresolved } of rules.rules) {
    if (unresolved === undefined) continue;
    const { requests, example } = unresolved;
    notes.push(
      `Rule ${rule} was left out for ${count(requests, 'request')} whose key or cost is not in the log: line ${example.line} of ` +
        `${example.file}: ${example.reason}.`,
    );
  }
  for (const { rule, assumed } of rules.rules)
    for (const text of assumed) notes.push(`Rule ${rule}: ${text}.`);
  if (rules.rulesForCode.length > 0)
    notes.push(`A log says nothing of rules without a match: ${rules.rulesForCode.join(', ')}.`);
  if (log.wholeSeconds && limitsOf(rules).some(isShort))
    notes.push(
      'The log has whole seconds, so requests of one second come at one moment: limits of a few seconds deny more than they would live.',
    );
  if (!log.durations && limitsOf(rules).some(({ policy }) => policy.algorithm === 'concurrency'))
    notes.push('The log has no durations, so permits of concurrency are released at once.');
  const inexact = limitsOf(rules).filter(({ smallest }) => smallest?.limit !== undefined && !smallest.exact);
  if (inexact.length > 0)
    notes.push(
      `${inexact.map(({ limit, plan }) => named(limit, plan)).join(', ')}: requests cost different amounts, so a number far below the ` +
        'smallest limit may deny as few: it denies large requests and leaves their permits to small ones. Such numbers were not looked for.',
    );
  if (rules.storeFull || against?.storeFull)
    notes.push('The store was full: some keys may have lost their counts. Give it more with --max-keys.');
  return notes;
}

const limitsOf = ({ rules }: ReplayReport) => rules.flatMap(({ limits }) => limits);

/** Below ten seconds. */
function isShort({ policy }: { readonly policy: object }): boolean {
  const { window, every, period } = policy as Readonly<Record<string, unknown>>;
  return [window, every, period].some((length) => typeof length === 'number' && length < 10_000);
}

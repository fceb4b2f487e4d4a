import { createHash } from 'node:crypto';
import { count } from '@sluice/core/internal';
import type { HitKey, ReplayReport, RuleReport, Simulation } from '../report.js';
import { html, Markup } from './markup.js';
import { overTimePlot, percent, sharePlot, usePlot } from './plots.js';
import { STYLE } from './style.js';

/**
 * A simulation as one page of HTML with plots. It loads nothing, has no scripts, and its own Content-Security-Policy forbids both; paths and
 * keys of the log are text in it.
 */
export function simulationPage(simulation: Simulation): string {
  const { log, rules, against, newlyDenied, newlyAllowed } = simulation;
  const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
  const title = `${rules.name}: whom would it deny?`;
  const files = log.files.map(({ name, format }) => `${name} (${format})`).join(', ');
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${trusted(STYLE)}</style>
</head>
<body>
<h1>${title}</h1>
<p>${count(log.requests, 'request')} of ${files}${period(log.from, log.to)}.
${rules.denied} would be denied (${shareOf(rules.denied, rules.requests)}), and ${count(rules.unlimited, 'has', 'have')} no limit.</p>
<p class="soft">${count(log.bad, 'line is not a request', 'lines are not requests')}. ${count(log.late, 'request was', 'requests were')} too far out of order.${full(rules)}</p>
${against === undefined ? html`` : changes(against, newlyDenied!, newlyAllowed!)}
${rules.rules.map(ruleSection)}
</body>
</html>
`.text;
}

/** The style has no values of a log. */
const trusted = (text: string): Markup => new Markup(text);

const shareOf = (part: number, whole: number): string => percent(whole === 0 ? 0 : part / whole);

const period = (from: number | undefined, to: number | undefined): string =>
  from === undefined ? '' : `, from ${secondOf(from)} to ${secondOf(to!)}`;

/** As `sluice simulate` shows it: 2026-11-22 08:00:00Z. */
const secondOf = (moment: number): string =>
  `${new Date(moment).toISOString().slice(0, 19).replace('T', ' ')}Z`;

const full = ({ storeFull }: ReplayReport): string =>
  storeFull ? ' The store was full: some keys may have lost their counts.' : '';

type Change = NonNullable<Simulation['newlyDenied']>;

function changes({ name, denied, requests }: ReplayReport, newly: Change, allowed: Change): Markup {
  const rows = (word: string, { keys }: Change) =>
    keys.map(
      ({ rule, key, requests: times, error }) =>
        html`<tr><td>${word}</td><td>${rule}</td><td>${countText(times, error)}</td><td class="key">${key}</td></tr>`,
    );
  return html`<h2>Against ${name}</h2>
<p>${name} denies ${denied} (${shareOf(denied, requests)}): ${newly.requests} would be newly denied, and ${allowed.requests} newly allowed.</p>
<table><thead><tr><th>Change</th><th>Rule</th><th>Requests</th><th>Key</th></tr></thead>
<tbody>${rows('newly denied', newly)}${rows('newly allowed', allowed)}</tbody></table>`;
}

function ruleSection(rule: RuleReport): Markup {
  const { requests, denied, keys, moreKeys, mode, compare, limits, hit, unresolved, assumed } = rule;
  const shadow = mode === 'enforce' ? '' : compare === undefined ? ', a shadow' : `, a shadow of ${compare}`;
  return html`<section>
<h2>${rule.rule}${shadow}</h2>
<p>${denied} of ${count(requests, 'request')} denied (${shareOf(denied, requests)}); ${moreKeys ? 'more than ' : ''}${count(keys, 'key')}.</p>
${unresolved === undefined ? html`` : html`<p class="soft">${count(unresolved.requests, 'more has', 'more have')} no key or cost in the log: ${unresolved.example.reason}.</p>`}
${assumed.map((text) => html`<p class="soft">In this replay ${text}.</p>`)}
${requests === 0 ? html`` : html`${overTimePlot(rule)}${denied === 0 ? html`` : html`<h3>Denied share</h3>${sharePlot(rule)}`}`}
${limits.map(
  (limit) => html`<h3>Peak use of ${limit.limit}${limit.plan === undefined ? '' : `, ${limit.plan}`}</h3>
<p>${limit.denied} denied; ${count(limit.keys, 'key')}.${smallestText(limit.smallest)}</p>${usePlot(limit)}`,
)}
${hit.length === 0 ? html`` : hitTable(hit)}
</section>`;
}

function smallestText(smallest: RuleReport['limits'][number]['smallest']): string {
  if (smallest === undefined) return '';
  const { limit, target, exact } = smallest;
  const text = limit === undefined ? 'no limit is large enough' : `the smallest limit is ${limit}`;
  const more =
    limit === undefined || exact
      ? ''
      : ' Requests cost different amounts, so a number far below may deny as few.';
  return ` To deny at most ${percent(target)}, ${text}.${more}`;
}

const hitTable = (hit: readonly HitKey[]): Markup => html`<h3>Denied most</h3>
<table><thead><tr><th>Requests</th><th>Key</th></tr></thead><tbody>${hit.map(
  ({ key, requests, error }) =>
    html`<tr><td>${countText(requests, error)}</td><td class="key">${key}</td></tr>`,
)}</tbody></table>`;

const countText = (requests: number, error: number): string =>
  error === 0 ? `${requests}` : `${requests - error}–${requests}`;

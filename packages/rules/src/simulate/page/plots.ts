import type { LimitReport, RuleReport } from '../report.js';
import { html, type Markup } from './markup.js';

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [720, 150, 52, 10, 22];
const BASE = HEIGHT - BOTTOM;
const ROOM = BASE - TOP;
const TICKS = 5;

const fixed = (value: number): string => value.toFixed(1).replace(/\.0$/, '');

/** Requests as bars, and the denied part of each, over the time of the log. */
export function overTimePlot({ rule, overTime }: RuleReport): Markup {
  const { start, width, requests, denied } = overTime;
  const most = Math.max(1, ...requests);
  const step = (WIDTH - LEFT) / Math.max(1, requests.length);
  const bar = (count: number, i: number, kind: string) => {
    const height = (count / most) * ROOM;
    const [x, y, w] = [LEFT + i * step, BASE - height, Math.max(0.6, step - 0.4)].map(fixed);
    return html`<rect class="${kind}" x="${x!}" y="${y!}" width="${w!}" height="${fixed(height)}"/>`;
  };
  const bars = requests.map((count, i) => (count === 0 ? html`` : bar(count, i, 'requests')));
  const denials = denied.map((count, i) => (count === 0 ? html`` : bar(count, i, 'denied')));
  const label = `Requests and denials of ${rule} over time`;
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
<text class="axis" x="${LEFT - 6}" y="${TOP + 8}" text-anchor="end">${most}</text>
<text class="axis" x="${LEFT - 6}" y="${BASE}" text-anchor="end">0</text>
${bars}${denials}
<line class="line" x1="${LEFT}" y1="${BASE}" x2="${WIDTH}" y2="${BASE}"/>
${timeLabels(start, width * requests.length)}
</svg>`;
}

/** The denied share over the time of the log. */
export function sharePlot({ rule, overTime }: RuleReport): Markup {
  const { start, width, requests, denied } = overTime;
  const step = (WIDTH - LEFT) / Math.max(1, requests.length);
  const shares = requests.map((count, i) => (count === 0 ? 0 : denied[i]! / count));
  const most = Math.max(0.01, ...shares);
  const y = (share: number) => fixed(BASE - (share / most) * ROOM);
  // Steps: the share is one number for a part of the time.
  const points = shares.flatMap((share, i) => [
    `${fixed(LEFT + i * step)},${y(share)}`,
    `${fixed(LEFT + (i + 1) * step)},${y(share)}`,
  ]);
  const label = `Denied share of ${rule} over time`;
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
<text class="axis" x="${LEFT - 6}" y="${TOP + 8}" text-anchor="end">${percent(most)}</text>
<text class="axis" x="${LEFT - 6}" y="${BASE}" text-anchor="end">0 %</text>
<polyline class="share" points="${points.join(' ')}"/>
<line class="line" x1="${LEFT}" y1="${BASE}" x2="${WIDTH}" y2="${BASE}"/>
${timeLabels(start, width * requests.length)}
</svg>`;
}

const QUANTILES = [
  ['p50', 'half of the keys'],
  ['p90', '90 %'],
  ['p99', '99 %'],
  ['max', 'all keys'],
] as const;
const [ROW, NAME] = [22, 150];

/** The highest use of the limit by each key. */
export function usePlot({ limit, plan, use }: LimitReport): Markup {
  const rows = QUANTILES.map(([name, words], i) => {
    const [y, length] = [i * ROW, use[name] * (WIDTH - NAME - 60)];
    const kind = use[name] >= 1 ? 'denied' : 'use';
    return html`<text class="axis" x="${NAME - 8}" y="${y + 15}" text-anchor="end">${words}</text>
<rect class="${kind}" x="${NAME}" y="${y + 4}" width="${fixed(Math.max(1, length))}" height="${ROW - 8}"/>
<text class="axis" x="${fixed(NAME + length + 6)}" y="${y + 15}">${percent(use[name])}</text>`;
  });
  const label = `Use of ${plan === undefined ? limit : `${limit}, ${plan}`} by its keys`;
  return html`<svg viewBox="0 0 ${WIDTH} ${QUANTILES.length * ROW}" role="img" aria-label="${label}">${rows}</svg>`;
}

export const percent = (share: number): string => `${Number((share * 100).toFixed(share < 0.1 ? 2 : 0))} %`;

/** Moments in UTC along the bottom. */
function timeLabels(start: number, length: number): Markup[] {
  return Array.from({ length: TICKS }, (_, i) => {
    const part = i / (TICKS - 1);
    const text = momentText(start + length * part, length);
    const anchor = i === 0 ? 'start' : i === TICKS - 1 ? 'end' : 'middle';
    const x = fixed(LEFT + (WIDTH - LEFT) * part);
    return html`<text class="axis" x="${x}" y="${HEIGHT - 6}" text-anchor="${anchor}">${text}</text>`;
  });
}

/** A moment with the precision that the length of the plot needs. */
function momentText(ms: number, length: number): string {
  const text = new Date(ms).toISOString();
  if (length > 3 * 86_400_000) return text.slice(0, 10);
  return length > 3_600_000 ? `${text.slice(5, 10)} ${text.slice(11, 16)}` : text.slice(11, 19);
}

import { AGAIN } from './contenders/index.mjs';
import { speedOf } from './report.mjs';

/** Middle tones, readable on white and on black pages. */
const TEXT = '#717a84';
const OTHERS = '#8b949e';
const OURS = '#2579e0';

const NAMES = 270;
const PLOT = 190;
const GAP = 46;
const ROW = 20;
const TOP = 62;
/** Ratios are on a logarithmic scale: 10 and 1/10 are equally far from 1. */
const TICKS = [0.1, 1, 10, 100];
const LOWEST = Math.log10(TICKS[0]);
const HIGHEST = 2.3;

const escaped = (text) => text.replaceAll('`', '').replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const text = (x, y, content, more = '') =>
  `<text x="${round(x)}" y="${round(y)}"${more}>${escaped(content)}</text>`;
const round = (value) => Math.round(value * 10) / 10;

/** Decisions per second beside rate-limiter-flexible's, a panel for each workload with `inFlight` calls in flight. */
export function picture(columns, inFlight) {
  const panels = columns.filter(([cell]) => cell.inFlight === inFlight);
  const who = panels[0].map(({ contender }) => contender).filter(({ id }) => id !== AGAIN);
  const bottom = TOP + who.length * ROW;
  const width = NAMES + panels.length * (PLOT + GAP);
  const height = bottom + 26;
  const title = `Decisions per second on Redis, ${inFlight} in flight, as multiples of rate-limiter-flexible's (log scale)`;
  const names = who.map(({ name, id }, i) =>
    text(NAMES - 12, TOP + i * ROW + 14, name, ` text-anchor="end"${mark(id)}`),
  );
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="${TEXT}">`,
    `<title>${escaped(title)}</title>`,
    text(8, 18, title, ' font-weight="bold"'),
    ...names,
    ...panels.flatMap((column, i) => panel(column, who, NAMES + i * (PLOT + GAP), bottom)),
    '</svg>',
  ].join('\n')}\n`;
}

const ours = (id) => id.startsWith('sluice');
const mark = (id) => (ours(id) ? ` fill="${OURS}" font-weight="bold"` : '');

function panel(column, who, left, bottom) {
  const x = (value) => {
    const power = Math.min(Math.max(Math.log10(value), LOWEST), HIGHEST);
    return round(left + ((power - LOWEST) / (HIGHEST - LOWEST)) * PLOT);
  };
  const grid = TICKS.map((tick) => `M${x(tick)} ${TOP - 4}V${bottom + 4}`).join('');
  const bars = who.flatMap((contender, i) => {
    const speed = speedOf(
      column,
      column.find((cell) => cell.contender === contender),
    );
    const middle = TOP + i * ROW + 10;
    const [from, to] = [x(Math.min(1, speed)), x(Math.max(1, speed))];
    const colour = ours(contender.id) ? OURS : OTHERS;
    const value = speed >= 10 ? speed.toFixed(0) : speed.toFixed(2);
    return [
      `<rect x="${from}" y="${middle - 5}" width="${round(Math.max(to - from, 1.5))}" height="10" fill="${colour}"/>`,
      text(to + 5, middle + 4, value, mark(contender.id)),
    ];
  });
  return [
    text(x(1), TOP - 14, column[0].column.replace(/, \d+$/, ''), ' font-weight="bold"'),
    `<path d="${grid}" stroke="${OTHERS}" opacity=".35"/>`,
    `<path d="M${x(1)} ${TOP - 4}V${bottom + 4}" stroke="${TEXT}"/>`,
    ...TICKS.map((tick) => text(x(tick), bottom + 18, `${tick}×`, ' text-anchor="middle"')),
    ...bars,
  ];
}

import { busiest, SECOND } from './offer.js';
import { LENGTH, type Subject, WINDOW } from './subjects.js';
import { GRID as CALLS, line, ORANGE as PROMISE, picture, short, text, BLUE as WENT } from './svg.js';
import { WORDS, type Words } from './words.js';

const LEFT = 72;
const RIGHT = 8;
const PER_SECOND = 18;
const PLOT = (LENGTH / SECOND) * PER_SECOND;
const TOP = 78;
const MOST = 60;
const PER_CALL = 3;
const BOTTOM = TOP + MOST * PER_CALL;
const HEIGHT = BOTTOM + 44;
const WIDTH = LEFT + PLOT + RIGHT;

const x = (moment: number): string => short(LEFT + (moment / SECOND) * PER_SECOND);
const y = (count: number): string => short(BOTTOM - Math.min(count, MOST) * PER_CALL);

/**
 * Over one time axis: the calls, the calls that passed, the sums of both, and the algorithm's upper bound. All pictures have the same
 * scale.
 */
export function draw(
  { code, note, moments, promise, step }: Subject,
  went: readonly number[],
  words: Words = WORDS.en,
): string {
  const { count, end } = busiest(went, WINDOW);
  const from = Math.max(0, end - WINDOW);
  const title = words.title(went.length, moments.length, count);
  return picture(WIDTH, HEIGHT, `${code}: ${title}`, [
    text(LEFT, 16, `${code}${note === undefined ? '' : `, ${words.notes[note]}`}`, 'font-weight="bold"'),
    text(LEFT + PLOT, 16, words.passedOf(went.length, moments.length), 'text-anchor="end"'),
    `<path d="M${x(from)} 26H${x(end)}V${BOTTOM}H${x(from)}Z" fill="${PROMISE}" opacity=".13"/>`,
    text(LEFT - 8, 38, words.calls, 'text-anchor="end"'),
    line(CALLS, ticks(moments, 28)),
    text(LEFT - 8, 56, words.passed, 'text-anchor="end"'),
    line(WENT, ticks(went, 46), 'stroke-width="1.4"'),
    text(LEFT + PLOT * ((from + end) / 2 / LENGTH), 73, words.busiest(count), 'text-anchor="middle"'),
    ...axes(),
    line(CALLS, stairs(moments)),
    line(
      PROMISE,
      step === 0 ? slope(promise) : jumps(promise, step),
      'stroke-width="1.5" stroke-dasharray="5 4"',
    ),
    line(WENT, stairs(went), 'stroke-width="2"'),
    ...legend(words),
  ]);
}

const ticks = (moments: readonly number[], top: number): string =>
  moments.map((moment) => `M${x(moment)} ${top}v12`).join('');

const stairs = (moments: readonly number[]): string =>
  `M${x(0)} ${y(0)}${moments.map((moment, i) => `H${x(moment)}V${y(i + 1)}`).join('')}H${x(LENGTH)}`;

const slope = (promise: (elapsed: number) => number): string =>
  `M${x(0)} ${y(promise(0))}L${x(LENGTH)} ${y(promise(LENGTH))}`;

function jumps(promise: (elapsed: number) => number, step: number): string {
  let path = `M${x(0)} ${y(promise(0))}`;
  for (let at = step; at < LENGTH; at += step) path += `H${x(at)}V${y(promise(at))}`;
  return `${path}H${x(LENGTH)}`;
}

function axes(): string[] {
  const counts = [0, 20, 40, 60];
  const times = [0, 10, 20, 30, 40];
  const grid = counts.map((count) => `M${LEFT} ${y(count)}h${PLOT}`).join('');
  return [
    line(CALLS, grid, 'opacity=".35"'),
    ...counts.map((count) => text(LEFT - 8, Number(y(count)) + 4, String(count), 'text-anchor="end"')),
    ...times.map((time) => text(LEFT + time * PER_SECOND, BOTTOM + 16, `${time} s`, 'text-anchor="middle"')),
  ];
}

function legend(words: Words): string[] {
  const base = HEIGHT - 8;
  const middle = base - 4;
  return [
    line(CALLS, `M${LEFT} ${middle}h24`),
    text(LEFT + 30, base, words.callsAdded),
    line(WENT, `M${LEFT + 160} ${middle}h24`, 'stroke-width="2"'),
    text(LEFT + 190, base, words.passed),
    line(PROMISE, `M${LEFT + 250} ${middle}h24`, 'stroke-width="1.5" stroke-dasharray="5 4"'),
    text(LEFT + 280, base, words.bound),
  ];
}

import { between, busiest, SECOND } from './offer.js';
import { LENGTH, type Subject, WINDOW } from './subjects.js';
import { WORDS } from './words.js';

const BLOCKS = ' ▁▂▃▄▅▆▇█';
const COLUMN = SECOND / 2;
const COLUMNS = LENGTH / COLUMN;
/** Calls in a full block. */
const FULL = 5;

/** The picture for a terminal: a column per half second, as tall as its number of calls. */
export function show({ code, note, moments }: Subject, went: readonly number[]): string {
  const axis = ['0 s', '10 s', '20 s', '30 s', '40 s']
    .map((label) => label.padEnd((10 * SECOND) / COLUMN))
    .join('');
  const { count, end } = busiest(went, WINDOW);
  return [
    `${code}${note === undefined ? '' : `, ${WORDS.en.notes[note]}`}`,
    `calls  ${row(moments)}`,
    `passed ${row(went)}`,
    `       ${axis.trimEnd()}`,
    `${went.length} of ${moments.length} calls passed; busiest 10 s: ${count}, until ${(end / SECOND).toFixed(1)} s; █ = ${FULL} in half a second`,
  ].join('\n');
}

const row = (moments: readonly number[]): string =>
  Array.from({ length: COLUMNS }, (_, i) => {
    const count = between(moments, i * COLUMN, (i + 1) * COLUMN);
    return BLOCKS[count === 0 ? 0 : Math.min(8, Math.max(1, Math.round((count / FULL) * 8)))]!;
  })
    .join('')
    .trimEnd();

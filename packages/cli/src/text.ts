import { randomUUID } from 'node:crypto';

/**
 * Names and keys come from Redis, where others may write. Control characters would command the terminal, and marks of direction would
 * change the order in which people read: both are shown as escapes. `Output`, tables and `wrapped` escape their input, so
 * commands do not.
 */
export const shown = (text: string): string =>
  text.replace(COMMANDING, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);

const COMMANDING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Placeholder for the escape of a colour until `forTerminal`. It is random, so no other text can contain a colour. */
const COLOUR = randomUUID();
const COLOURS = new RegExp(`\\[${COLOUR};(\\d+)m`, 'g');

/** A text between two colour codes. */
export const coloured = (text: string, begin: number, end: number): string =>
  `[${COLOUR};${begin}m${text}[${COLOUR};${end}m`;

/** One line for a terminal. Its only control sequences are the CLI's own colours. */
export const forTerminal = (line: string): string => shown(line).replace(COLOURS, '\u001b[$1m');

/** A process in a line: `shop-1:4711`. */
export const processText = ({ host, pid }: { readonly host: string; readonly pid: number }): string =>
  `${host}:${pid}`;

/** JSON of a value. `JSON.stringify` alone leaves some of these characters as they are. */
export const safeJson = (value: unknown): string =>
  JSON.stringify(value).replace(COMMANDING, (char) =>
    char
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** The most characters of a key in a sentence, so that the rest stays readable. */
const LONGEST_KEY = 80;

/** A key in a sentence. */
export function shownKey(key: string): string {
  const text = shown(key);
  return text.length > LONGEST_KEY ? `${text.slice(0, LONGEST_KEY - 1)}…` : text;
}

/** A word of a command line, as a shell reads it. Others choose keys: a key must stay one word. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** The columns that a text occupies, without its colours. */
export const widthOf = (text: string): number => [...text.replace(COLOURS, '')].length;

/**
 * Breaks a text into lines of at most `width` columns, between words where that is possible.
 * @param indent the beginning of each line
 * @param first the beginning of the first line
 */
export function wrapped(text: string, width: number, indent = '', first = indent): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of shown(text).split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    const room = width - widthOf(lines.length === 0 ? first : indent);
    if (line !== '' && widthOf(longer) > room) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  lines.push(line);
  return lines.map((one, i) => (i === 0 ? first : indent) + one);
}

/** The lines of a table: columns with one space of padding. If they do not fit, each row becomes a block of lines `HEAD value`. */
export function table(
  heads: readonly string[],
  given: readonly (readonly string[])[],
  width: number,
): string[] {
  const rows = given.map((row) => row.map(shown));
  const widths = heads.map((head, i) => Math.max(widthOf(head), ...rows.map((row) => widthOf(row[i]!))));
  const total = widths.reduce((sum, one) => sum + one + 2, -2);
  if (total <= width) {
    const line = (cells: readonly string[]) =>
      cells.map((cell, i) => (i === cells.length - 1 ? cell : pad(cell, widths[i]! + 2))).join('');
    return [heads, ...rows].map((cells) => line(cells).trimEnd());
  }
  const longest = Math.max(...heads.map(widthOf)) + 2;
  const block = (row: readonly string[]) =>
    row.flatMap((cell, i) =>
      cell === '' ? [] : wrapped(cell, width, ' '.repeat(longest), pad(heads[i]!, longest)),
    );
  return rows.flatMap((row, i) => (i === 0 ? block(row) : ['', ...block(row)]));
}

const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

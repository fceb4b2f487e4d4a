/**
 * Names and keys come from Redis, where others may write. Control characters would command the terminal, and marks of direction would
 * change the order in which people read: both are shown as escapes.
 */
export const shown = (text: string): string =>
  text.replace(COMMANDING, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);

const COMMANDING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A process in a line: `shop-1:4711`. */
export const shownProcess = ({ host, pid }: { readonly host: string; readonly pid: number }): string =>
  `${shown(host)}:${pid}`;

/** JSON of a value. `JSON.stringify` alone leaves some of these characters as they are. */
export const safeJson = (value: unknown): string =>
  JSON.stringify(value).replace(COMMANDING, (char) =>
    char
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** Characters of a key in a sentence: the rest must be readable, too. */
const LONGEST_KEY = 80;

/** A key in a sentence. */
export function shownKey(key: string): string {
  const text = shown(key);
  return text.length > LONGEST_KEY ? `${text.slice(0, LONGEST_KEY - 1)}…` : text;
}

/** Columns that a text takes, without its colours. */
export const widthOf = (text: string): number => [...text.replace(COLOUR, '')].length;
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape begins a colour
const COLOUR = /\u001b\[\d+m/g;

/** Breaks a text into lines of at most `width` columns, between words where that is possible. */
export function wrapped(text: string, width: number, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    const room = width - (lines.length === 0 ? 0 : indent.length);
    if (line !== '' && widthOf(longer) > room) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  lines.push(line);
  return lines.join(`\n${indent}`);
}

/** Columns with one space of padding. If they do not fit, each row becomes a block of lines `HEAD value`. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const widths = heads.map((head, i) => Math.max(widthOf(head), ...rows.map((row) => widthOf(row[i]!))));
  const total = widths.reduce((sum, one) => sum + one + 2, -2);
  if (total <= width) {
    const line = (cells: readonly string[]) =>
      cells.map((cell, i) => (i === cells.length - 1 ? cell : pad(cell, widths[i]! + 2))).join('');
    return [heads, ...rows].map((cells) => line(cells).trimEnd()).join('\n');
  }
  const longest = Math.max(...heads.map(widthOf)) + 2;
  const block = (row: readonly string[]) =>
    row
      .flatMap((cell, i) =>
        cell === '' ? [] : [pad(heads[i]!, longest) + wrapped(cell, width - longest, ' '.repeat(longest))],
      )
      .join('\n');
  return rows.map(block).join('\n\n');
}

const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

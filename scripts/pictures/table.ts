/** Figures in one cell, such as `2.6 · 194 · 100.0 %`. */
const FIGURES = /^[\d.]+(?: · [\d.]+)+ %$/;

/** A Markdown table in the format of Biome and Prettier: padded columns, numbers right-aligned. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = [head, ...rows.map((row) => row.map(String))];
  const right = head.map((_, column) => rows.every((row) => isNumber(row[column]!)));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => (right[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!))).join(' | ')} |`;
  const rule = widths.map((width, i) => (right[i] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [line(cells[0]!), `| ${rule.join(' | ')} |`, ...cells.slice(1).map(line)].join('\n');
}

const isNumber = (cell: string | number): boolean => typeof cell === 'number' || FIGURES.test(cell);

export const code = (text: string): string => `\`${text}\``;

/** Padded Markdown, readable as plain text. */
export function table(title, columns, rows) {
  const lines = [[title, ...columns], ...rows];
  const widths = [title, ...columns].map((_, i) => Math.max(3, ...lines.map((line) => line[i].length)));
  const row = (cells) => `| ${cells.join(' | ')} |`;
  const pad = (line) =>
    row(line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))));
  const rule = row(widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)));
  return [pad(lines[0]), rule, ...lines.slice(1).map(pad)].join('\n');
}

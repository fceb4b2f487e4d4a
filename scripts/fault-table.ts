import type { FaultRow } from '../tests/faults/table.js';

const GROUPS: readonly FaultRow['group'][] = [
  'network',
  'refusals',
  'set-up',
  'lost state',
  'cluster and failover',
  'race of eight processes',
  'bounds',
];
const HEAD = ['fault', 'callers saw', 'first answers', 'once known', 'counted', 'recovered after'];

/** The rows as a table in Markdown, with a line for each group. */
export function faultTable(rows: readonly FaultRow[]): string {
  const body = GROUPS.flatMap((group) => {
    const own = rows.filter((row) => row.group === group);
    own.sort((a, b) => (a.fault < b.fault ? -1 : 1));
    return [[`**${group}**`, '', '', '', '', ''], ...own.map(cells)];
  });
  const table = [HEAD, HEAD.map(() => ''), ...body];
  const widths = HEAD.map((_, column) => Math.max(...table.map((cell) => cell[column]!.length)));
  const lines = table.map((row, at) =>
    row.map((cell, column) => cell.padEnd(widths[column]!, at === 1 ? '-' : ' ')).join(' | '),
  );
  return lines.map((line) => `| ${line} |`).join('\n');
}

const cells = ({ fault, seen, first, known, counted, recovered }: FaultRow): string[] => [
  fault,
  seen,
  first === undefined ? '' : `≤ ${time(first)}`,
  known === undefined ? '' : time(known),
  counted,
  recovered === undefined ? '' : time(recovered),
];

/** @param ms */
function time(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms >= 1 ? `${Math.round(ms)} ms` : `${ms.toFixed(2)} ms`;
}

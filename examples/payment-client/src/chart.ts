import type { Arrival } from './gateway.js';

const COLUMN_MS = 100;

/** Calls over time, a digit for each tenth of a second. */
export function chart(arrivals: readonly Arrival[]): string {
  const start = Math.min(...arrivals.map(({ moment }) => moment));
  const column = ({ moment }: Arrival) => Math.floor((moment - start) / COLUMN_MS);
  const width = Math.max(...arrivals.map(column)) + 1;
  const row = (name: string, calls: readonly Arrival[]) => {
    const counts = new Array<number>(width).fill(0);
    for (const call of calls) counts[column(call)]! += 1;
    return `  ${name}  ${counts.map((count) => (count === 0 ? '.' : Math.min(count, 9))).join('')}`;
  };
  const refused = arrivals.filter(({ taken }) => !taken);
  const rows = [
    row(
      'taken  ',
      arrivals.filter(({ taken }) => taken),
    ),
  ];
  if (refused.length > 0) rows.push(row('refused', refused));
  return rows.join('\n');
}

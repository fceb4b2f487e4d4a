import { faultTable } from '../../scripts/fault-table.js';

test('rows are grouped, sorted and aligned', () => {
  const table = faultTable([
    { group: 'set-up', fault: 'wrong', seen: 'an error', counted: 'nothing' },
    {
      group: 'network',
      fault: 'slow',
      seen: '-',
      counted: '1 of 5',
      first: 103.4,
      known: 0.0512,
      recovered: 1_234,
    },
    {
      group: 'network',
      fault: 'killed',
      seen: '-',
      counted: '0 of 5',
      first: 2.2,
      known: 1.6,
      recovered: 80,
    },
  ]);
  const rows = table.split('\n');
  expect(new Set(rows.map((row) => row.length)).size).toBe(1);
  const cells = rows.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
  expect(cells.slice(2, 5)).toEqual([
    ['**network**', '', '', '', '', ''],
    ['killed', '-', '≤ 2 ms', '2 ms', '0 of 5', '80 ms'],
    ['slow', '-', '≤ 103 ms', '0.05 ms', '1 of 5', '1.2 s'],
  ]);
  expect(cells.at(-1)).toEqual(['**bounds**', '', '', '', '', '']);
});

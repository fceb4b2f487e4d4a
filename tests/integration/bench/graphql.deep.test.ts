import { rowsOf, runner } from './run-bench.js';

const bench = runner('graphql.mjs');

test('a short run has a result in every cell', async () => {
  const { ok, output } = await bench('--calls=100', '--runs=1');
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  const rows = rowsOf(output, 'added to an operation');
  expect(rows.map(({ name }) => name)).toEqual([
    'Sluice, memory',
    'rate-limiter-flexible with a cost of 1, Redis',
    'Sluice, Redis',
  ]);
  for (const { cells } of rows) {
    expect(cells).toHaveLength(4);
    for (const cell of cells) expect(cell).toMatch(/^-?\d+\.\d$/);
  }
}, 120_000);

import { rowsOf, runner } from './run-bench.js';

const bench = runner('outgoing-fetch.mjs');

test('a short run has a result in every cell', async () => {
  const { ok, output } = await bench('--calls=200', '--runs=1');
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  const rows = rowsOf(output, 'fetch through an upstream');
  expect(rows).toHaveLength(3);
  for (const { cells } of rows) {
    expect(cells).toHaveLength(3);
    for (const cell of cells) expect(cell).toMatch(/^-?\d+\.\d+$/);
  }
}, 120_000);

import { rowsOf, runner } from './run-bench.js';

const bench = runner('mcp.mjs');

test('a short run has a result in every cell', async () => {
  const { ok, output } = await bench('--calls=100', '--runs=1');
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  expect(output).toMatch(/^Noise: /m);
  const rows = rowsOf(output, 'added to a tool call');
  expect(rows).toHaveLength(6);
  for (const { cells } of rows) {
    expect(cells).toHaveLength(4);
    for (const cell of cells) expect(cell).toMatch(/^-?\d+\.\d$/);
  }
}, 120_000);

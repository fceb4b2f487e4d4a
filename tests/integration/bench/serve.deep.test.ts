import { rowsOf, runner } from './run-bench.js';

const bench = runner('serve.mjs');

test('a short run has a result in every cell', async () => {
  const { ok, output } = await bench('--calls=200', '--runs=1');
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  const rows = rowsOf(output, 'CPU of the process of serve');
  expect(rows.map(({ name }) => name)).toEqual([
    'gRPC: ShouldRateLimit',
    'JSON: /v1/request',
    'JSON: /v1/consume',
  ]);
  for (const { cells } of rows) {
    expect(cells).toHaveLength(2);
    for (const cell of cells) expect(cell).toMatch(/^\d+$/);
  }
}, 120_000);

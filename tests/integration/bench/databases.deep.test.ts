import { rowsOf, runner } from './run-bench.js';

const bench = runner('databases.mjs');

test('a quick run has a result in every cell', async () => {
  const { ok, output } = await bench('--quick');
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  expect(output).toMatch(/^Noise: /m);
  const [rates, leads, cpu] = ['decisions/s', 'Sluice ÷', 'CPU a decision'].map((title) =>
    rowsOf(output, title),
  );
  expect([rates!.length, leads!.length, cpu!.length]).toEqual([6, 3, 6]);
  for (const { cells } of [...rates!, ...leads!]) {
    expect(cells).toHaveLength(4);
    for (const cell of cells) expect(cell).toMatch(/^[\d,]+(\.\d+)?$/);
  }
}, 120_000);

test('a quick run of several processes has a row for each number of them', async () => {
  const { ok, output } = await bench('--quick', '--processes');
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  expect(rowsOf(output, 'processes').map(({ cells }) => cells.length)).toEqual([4, 4]);
}, 120_000);

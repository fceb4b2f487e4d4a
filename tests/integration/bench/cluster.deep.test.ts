import { rowsOf, runner } from './run-bench.js';

const bench = runner('cluster.mjs');

test('a quick run has a result in every cell', async () => {
  const { ok, output } = await bench('--quick');
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  expect(output).toMatch(/^Noise: /m);
  const leads = ['decisions/s: Sluice ÷', 'CPU a decision: rate-limiter-flexible ÷'].map((title) =>
    rowsOf(output, title),
  );
  expect(leads.map((rows) => rows.length)).toEqual([3, 3]);
  const [inCluster, onSingle] = output.split('On the single Redis:');
  const ratios = [inCluster!, onSingle!].map((part) => rowsOf(part, 'decisions/s ÷ rate-limiter-flexible'));
  expect(ratios.map((rows) => rows.length)).toEqual([4, 3]);
  for (const { cells } of [...leads.flat(), ...ratios.flat()]) {
    expect(cells).toHaveLength(6);
    for (const cell of cells) expect(cell).toMatch(/^\d+(\.\d+)?$/);
  }
}, 120_000);

test('--write rejects a quick run', async () => {
  const { ok, output } = await bench('--quick', '--write');
  expect(ok).toBe(false);
  expect(output).toContain('--write needs a whole run');
});

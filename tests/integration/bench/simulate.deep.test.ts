import { runner } from './run-bench.js';

const bench = runner('simulate.mjs');

test('a quick run measures a time and a size in every row', async () => {
  const { ok, output } = await bench('--quick');
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  const rows = [...output.matchAll(/^\| [a-z][^|]+\|(.*)\|$/gm)].map(([, cells]) =>
    cells!.split('|').map(Number),
  );
  expect(rows).toHaveLength(5);
  for (const [seconds, cpu, , megabytes] of rows) {
    expect(seconds).toBeGreaterThan(0);
    expect(cpu).toBeGreaterThan(0);
    expect(megabytes).toBeGreaterThan(10);
  }
}, 120_000);

test('--write rejects a quick run', async () => {
  expect((await bench('--quick', '--write')).output).toContain('--write needs a whole run');
});

import { join, resolve } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { rowsOf, runner } from './run-bench.js';

const root = resolve(__dirname, '../../..');
const bench = runner('telemetry.mjs');

let before: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  before = await bundle(join(root, 'packages/core/src/index.ts'));
});
afterAll(() => before.remove());

test('a quick run beside another build has a result in every cell', async () => {
  const { ok, output } = await bench('--quick', `--before=${before.file}`);
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  expect(output).toMatch(/^Noise: /m);
  const tables = ['client CPU ÷ the build before', 'client CPU ÷ without subscribers', 'client CPU, µs'].map(
    (title) => rowsOf(output, title),
  );
  expect(tables.map((rows) => rows.length)).toEqual([2, 5, 5]);
  for (const { cells } of tables.flat()) {
    expect(cells).toHaveLength(5);
    for (const cell of cells) expect(cell).toMatch(/^\d+(\.\d+)?$/);
  }
}, 120_000);

test('--write rejects a run without another build', async () => {
  const { ok, output } = await bench('--write');
  expect(ok).toBe(false);
  expect(output).toContain('--write needs a whole run: leave out --quick, and give --before');
});

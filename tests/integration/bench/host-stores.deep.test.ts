import { rowsOf, runner } from './run-bench.js';

const bench = runner('host-stores.mjs');

/** Hosts that have no Redis store to compare with. */
const ALONE = ['@nestjs/throttler', 'Better Auth'];

test('a short run has a result in every cell', async () => {
  const { ok, output } = await bench('--hits=200', '--rounds=1');
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  const rows = rowsOf(output, 'µs of CPU a hit, Redis');
  expect(rows).toHaveLength(10);
  for (const { name, cells } of rows) {
    const alone = ALONE.includes(name.split(',')[0]!);
    expect(cells).toEqual([
      expect.stringMatching(/^\d+\.\d$/),
      alone ? '–' : expect.stringMatching(/^\d+\.\d$/),
      alone ? '–' : expect.stringMatching(/^\d+\.\d\d$/),
    ]);
  }
}, 120_000);

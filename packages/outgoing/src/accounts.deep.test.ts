import { bundle } from '../../../tests/support/bundle.js';
import { run } from '../../../tests/support/run.js';

/** Calls after which everything that is kept of accounts has reached its bound: some of it is kept of each fourth account only. */
const FIRST = 70_000;
const OTHERS = 20_000;
/** Bytes that 20,000 other accounts may add: 12 for each. An entry of a map takes about 100. */
const MOST_GROWTH = 250_000;
const MOST_HEAP = 40_000_000;

test('after 70,000 accounts with limits, pauses and headers, 20,000 others take no more memory, and all are served', async () => {
  const { file, remove } = await bundle(require.resolve('../../../tests/support/outgoing/accounts-flood.ts'));
  try {
    const args = ['--expose-gc', file, String(FIRST), String(OTHERS)];
    const { ok, output } = await run(process.execPath, args, { timeoutMs: 280_000 });
    expect({ ok, output }).toMatchObject({ ok: true });
    const { sent, most, known, before, after } = JSON.parse(output);
    expect(sent).toBe(FIRST + OTHERS);
    expect(most).toBeLessThanOrEqual(30_000);
    expect(known).toBeLessThanOrEqual(10_000);
    expect(after - before).toBeLessThan(MOST_GROWTH);
    expect(after).toBeLessThan(MOST_HEAP);
  } finally {
    await remove();
  }
}, 300_000);

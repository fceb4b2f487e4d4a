import { bundle } from '../../../tests/support/bundle.js';
import { run } from '../../../tests/support/run.js';

/** The names of a million accounts alone take 40 MB. */
const HEAP_MB = 64;

test('a million accounts with limits, pauses and headers fit into a small heap, and are all served', async () => {
  const { file, remove } = await bundle(require.resolve('../../../tests/support/outgoing/accounts-flood.ts'));
  try {
    const { ok, output } = await run(process.execPath, [`--max-old-space-size=${HEAP_MB}`, file], {
      timeoutMs: 880_000,
    });
    expect({ ok, output }).toMatchObject({ ok: true });
    const { sent, most, known } = JSON.parse(output);
    expect(sent).toBe(1_000_000);
    expect(most).toBeLessThanOrEqual(30_000);
    expect(known).toBeLessThanOrEqual(10_000);
  } finally {
    await remove();
  }
}, 900_000);

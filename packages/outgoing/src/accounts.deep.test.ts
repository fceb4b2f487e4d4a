import { bundle } from '../../../tests/support/bundle.js';
import { run } from '../../../tests/support/run.js';

/** A million take two minutes of a core: `node --max-old-space-size=64 FILE 1000000` with accounts-flood.ts bundled. */
const ACCOUNTS = 300_000;
const HEAP_MB = 48;

test('300,000 accounts with limits, pauses and headers fit into a small heap, and are all served', async () => {
  const { file, remove } = await bundle(require.resolve('../../../tests/support/outgoing/accounts-flood.ts'));
  try {
    const { ok, output } = await run(
      process.execPath,
      [`--max-old-space-size=${HEAP_MB}`, file, String(ACCOUNTS)],
      {
        timeoutMs: 880_000,
      },
    );
    expect({ ok, output }).toMatchObject({ ok: true });
    const { sent, most, known } = JSON.parse(output);
    expect(sent).toBe(ACCOUNTS);
    expect(most).toBeLessThanOrEqual(30_000);
    expect(known).toBeLessThanOrEqual(10_000);
  } finally {
    await remove();
  }
}, 900_000);

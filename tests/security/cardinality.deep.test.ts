import { bundle } from '../support/bundle.js';
import { run } from '../support/run.js';

/** Fits 150,000 keys. The records of half a million do not fit, nor do headers that their keys keep alive. */
const HEAP_MB = 48;

test('half a million new keys fit into a small heap, evict no limited key and take constant time each', async () => {
  const { file, remove } = await bundle(require.resolve('./flood.ts'));
  try {
    const { ok, output } = await run(process.execPath, [`--max-old-space-size=${HEAP_MB}`, file], {
      timeoutMs: 280_000,
    });
    expect({ ok, output }).toMatchObject({ ok: true });
    expect(JSON.parse(output)).toEqual({ passed: 500_000, most: 150_000, readmitted: [] });
  } finally {
    await remove();
  }
}, 300_000);

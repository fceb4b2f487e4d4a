import { fixedWindow, ManualClock, memoryStore } from '../../../packages/core/src/index.js';
import { meter } from '../../../packages/meter/src/index.js';

// Many open holds in memory. `open-holds.deep.test.ts` bundles this file and runs it with `--expose-gc`: in a worker of Jest other tests'
// subscribers would keep what each hold publishes.
//   node --expose-gc main.cjs <number of holds>
// Prints as JSON: bytes of a hold, the lines of the budget, and the entries and the rest of the budget after they have expired.

async function main(count: number): Promise<void> {
  const heap = () => {
    globalThis.gc!();
    return process.memoryUsage().heapUsed;
  };
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const axes = { usd: fixedWindow({ limit: 1e12, window: '1h' }) };
  const budget = meter({ name: 'many', store, axes, ttl: '1m', lapse: 'refund' });
  await (await budget.hold('key', { usd: 1 })).cancel();
  const before = heap();
  for (let i = 0; i < count; i += 1) {
    if (i % 10 === 0) clock.set(clock.now() + 1);
    await budget.hold('key', { usd: 10 });
  }
  const { size } = store;
  const bytes = (heap() - before) / count;
  const { lines } = await budget.status('key');

  clock.set(clock.now() + 136_000_000); // two times to live, each an eighth longer
  const end = Date.now() + 60_000;
  while (store.size > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 25));
  const expired = { size: store.size, left: (await budget.status('key')).left };
  await budget.close();
  await store.close();
  console.log(JSON.stringify({ size, bytes, lines, expired }));
}

void main(Number(process.argv[2]));

// A process of `databases.mjs --processes`: decides for one key for as long as the message says, and sends its number of decisions.
import { performance } from 'node:perf_hooks';

const [modules, url, table, prefetch] = process.argv.slice(2);
const { fixedWindow, postgresStore, RateLimiter } = await import(modules);
const store = postgresStore({ url, table });
const limiter = new RateLimiter({
  name: 'hot',
  policy: fixedWindow({ limit: 1e12, window: '7d' }),
  store,
  deadline: '30s',
  ...(prefetch === 'yes' && { prefetch: { most: 1_000 } }),
});
await limiter.consume('hot');
process.send('ready');

// It lives until its parent ends it: a process that ends by itself may be gone before its result has arrived.
process.on('message', async (ms) => {
  const end = performance.now() + ms;
  const latencies = [];
  let decisions = 0;
  const worker = async () => {
    while (performance.now() < end) {
      const asked = performance.now();
      const { allowed, degraded } = await limiter.consume('hot');
      if (!allowed || degraded) throw new Error('a call was not allowed by the store');
      latencies.push(performance.now() - asked);
      decisions += 1;
    }
  };
  await Promise.all(Array.from({ length: 50 }, worker));
  await limiter.close();
  await store.close();
  process.send({ decisions, latencies: latencies.filter((_, i) => i % 16 === 0) });
});

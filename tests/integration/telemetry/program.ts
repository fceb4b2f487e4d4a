// Started by programs.test.ts: node program.cjs <redis url> <limiter> <throwing|slow>. Prints JSON.
import {
  fixedWindow,
  memoryStore,
  RateLimiter,
  redisStore,
  subscribe,
} from '../../../packages/core/src/index.js';

const [, , url, name, kind] = process.argv as [string, string, string, string, 'throwing' | 'slow'];
const thrown: string[] = [];
process.on('uncaughtException', (error) => thrown.push(error.message));

const pause = new Int32Array(new SharedArrayBuffer(4));
const order: string[] = [];
let delivered = 0;
for (const channel of ['sluice:decision', 'sluice:store-call', 'sluice:wait', 'sluice:refund'] as const)
  subscribe(channel, () => {
    delivered += 1;
    if (kind === 'throwing') throw new Error(channel);
    Atomics.wait(pause, 0, 0, 20);
  });

async function main() {
  const policy = fixedWindow({ limit: 3, window: '1h' });
  const store = redisStore(url);
  await store.connect();
  const results: unknown[] = [];
  for (const [where, used] of [
    ['redis', store],
    ['memory', memoryStore()],
  ] as const) {
    const limiter = new RateLimiter({ name: `${name}-${where}`, policy, store: used, deadline: '10s' });
    const calls = [1, 2, 3, 4].map((i) =>
      limiter.consume('k').then((decision) => {
        order.push(`${where} ${i}`);
        return decision;
      }),
    );
    const decisions = await Promise.all(calls);
    await limiter.refund(decisions[0]!);
    const denied = await limiter.acquire('k', { cost: 2, timeout: 1 }).catch((error) => error.code);
    results.push([decisions.map(({ allowed, remaining }) => [allowed, remaining]), denied]);
  }
  await new Promise(setImmediate);
  await store.close();
  process.stdout.write(JSON.stringify({ results, order, delivered, thrown }));
}

void main();

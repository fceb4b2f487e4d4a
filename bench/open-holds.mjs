// Measures open holds of a meter on Redis: bytes each, and how they expire. The figures of docs/budgets.md.
//   node bench/open-holds.mjs           about 25 minutes, most of which it waits, after npm run build
//   node bench/open-holds.mjs --quick   half a minute, to see that it works
// Redis: one that it starts itself.
import { cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { fixedWindow, redisStore } from '@sluice/core';
import { meter } from '@sluice/meter';
import { Redis } from 'ioredis';
import { benchRedis, inspector } from './lib/redis.mjs';

const [option] = process.argv.slice(2);
if (option !== undefined && option !== '--quick') {
  console.error(`unknown option ${option}; usage: node bench/open-holds.mjs [--quick]`);
  process.exit(2);
}
const quick = option === '--quick';
const COUNT = quick ? 10_000 : 1_000_000;
const TTL = quick ? 5 : 600; // s; longer than the holds take to open
const IN_FLIGHT = 2_000;
/** Keys of the meter and the store that are no holds, at most. */
const OTHERS = 10;

delete process.env.REDIS_URL;
const redis = await benchRedis();
const server = inspector(redis.url);
const client = new Redis(redis.url);
const store = redisStore(redis.url);
const budget = meter({
  name: 'ai',
  store,
  axes: { usd: fixedWindow({ limit: 1e12, window: '1h' }) },
  ttl: `${TTL}s`,
  lapse: 'refund',
  deadline: '30s',
});
try {
  console.log(
    `${cpus().length} cores (${cpus()[0].model}), Node ${process.versions.node}, Redis ${await server.version()}`,
  );
  await (await budget.hold('acme', { usd: 1 })).cancel();
  const [before, cpu, own, began] = [
    await server.memory(),
    await server.cpu(),
    process.cpuUsage(),
    Date.now(),
  ];
  let next = 0;
  const open = async () => {
    while (next < COUNT) {
      next += 1;
      await budget.hold('acme', { usd: 10 });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, open));
  const [grown, keys] = [(await server.memory()) - before, await client.dbsize()];
  if (keys <= COUNT) throw new Error(`${keys} keys: holds have expired before all were open`);
  const used = process.cpuUsage(own);
  console.log(
    `${COUNT} open holds in ${seconds(Date.now() - began)}: ${Math.round(grown / COUNT)} bytes each, ${keys} keys`,
  );
  console.log(
    `CPU of a hold: ${Math.round(((await server.cpu()) - cpu) / COUNT)} µs of Redis, ${Math.round((used.user + used.system) / COUNT)} µs of the process`,
  );

  const opened = Date.now();
  let left = keys;
  for (let first = true; left > OTHERS; left = await client.dbsize()) {
    await setTimeout(quick ? 500 : 5_000);
    if (first && left < COUNT) {
      console.log(`the first have expired ${seconds(Date.now() - began)} after the first was opened`);
      first = false;
    }
    if (Date.now() - opened > 6 * TTL * 1000) throw new Error(`${left} keys are left`);
  }
  console.log(
    `all have expired ${seconds(Date.now() - opened)} after the last was opened; ` +
      `${(((await server.memory()) - before) / COUNT).toFixed(1)} bytes each are left`,
  );
} finally {
  await budget.close();
  await store.close();
  client.disconnect();
  server.close();
  await redis.stop();
}

function seconds(ms) {
  return `${Math.round(ms / 1000)} s`;
}

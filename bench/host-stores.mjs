// What a hit costs in our stores of other limiters, beside the Redis store of each host: µs of CPU, side by side in one process and one Redis.
//   node bench/host-stores.mjs            about half a minute
//   node bench/host-stores.mjs --write    also writes the table into bench/README.md
//   node bench/host-stores.mjs --hits=2000 --rounds=3
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { RedisStore as HonoRedisStore } from 'hono-rate-limiter';
import { Redis } from 'ioredis';
import { RedisStore } from 'rate-limit-redis';
import { honoClient } from './lib/hono-client.mjs';
import { hardwareText } from './lib/machine.mjs';
import { loadText, watchMachine } from './lib/noise.mjs';
import { benchRedis, inspector } from './lib/redis.mjs';
import { loaded } from './lib/sources.mjs';
import { table } from './lib/table.mjs';
import { writeSection } from './lib/write.mjs';

const { values } = parseArgs({
  options: {
    hits: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '11' },
    write: { type: 'boolean', default: false },
  },
});
const hits = Number(values.hits);
const rounds = Number(values.rounds);
const IN_FLIGHT = 50;
const KEYS = 100;
const MINUTE = 60_000;
const MANY = 1_000_000_000;

const stores = await loaded(
  "export * from '@sluice/stores'; export { recommendedRedisOptions, redisStore } from '@sluice/core';",
);
const FastifyRedisStore = createRequire(import.meta.url)('@fastify/rate-limit/store/RedisStore.js');

const redis = await benchRedis();
const prefix = `bench-hosts-${process.pid}-`;
const client = new Redis(redis.url, stores.recommendedRedisOptions);
await once(client, 'ready'); // the peers need a connection at once
const store = stores.redisStore(client);
const options = (name) => ({ name: prefix + name, store, deadline: '30s' }); // a busy machine causes no outage

/** A store with `increment`, initialized as its host does. */
function increments(one, limit) {
  one.init({ windowMs: MINUTE, limit });
  return (key) => one.increment(key);
}
const fastifyHits = (one, max) => (key) =>
  new Promise((resolve, reject) => {
    one.incr(key, (error, hit) => (error ? reject(error) : resolve(hit)), MINUTE, max);
  });
const expressPeer = () =>
  new RedisStore({ sendCommand: (command, ...args) => client.call(command, ...args), prefix: `${prefix}e` });
const honoPeer = () => new HonoRedisStore({ prefix: `${prefix}h`, client: honoClient(client) });
const fastifyPeer = () => new FastifyRedisStore(false, false, client, `${prefix}f`);
const {
  expressRateLimitStore,
  honoRateLimiterStore,
  fastifyRateLimitStore,
  throttlerStorage,
  betterAuthStorage,
} = stores;

/** By limit: one that every hit passes, and one that denies. */
const HOSTS = {
  'express-rate-limit': {
    sluice: (limit, name) => increments(expressRateLimitStore(options(`e${name}`)), limit),
    peer: (limit) => increments(expressPeer(), limit),
  },
  'hono-rate-limiter': {
    sluice: (limit, name) => increments(honoRateLimiterStore(options(`h${name}`)), limit),
    peer: (limit) => increments(honoPeer(), limit),
  },
  '@fastify/rate-limit': {
    sluice: (limit, name) => fastifyHits(new (fastifyRateLimitStore(options(`f${name}`)))({}), limit),
    peer: (limit) => fastifyHits(fastifyPeer(), limit),
  },
  '@nestjs/throttler': {
    sluice: (limit, name) => {
      const storage = throttlerStorage(options(`t${name}`));
      return (key) => storage.increment(key, MINUTE, limit, MINUTE, 'default');
    },
  },
  'Better Auth': {
    sluice: (limit, name) => {
      const storage = betterAuthStorage(options(`b${name}`));
      return (key) => storage.consume(key, { window: 60, max: limit });
    },
  },
};

const noise = watchMachine();
const rows = [];
for (const [host, { sluice, peer }] of Object.entries(HOSTS)) {
  for (const [what, limit] of Object.entries({ allowed: MANY, denied: 1 })) {
    const variants = [sluice(limit, what), ...(peer === undefined ? [] : [peer(limit)])];
    for (const hit of variants) await cpuOf(hit);
    const costs = variants.map(() => []);
    for (let round = 0; round < rounds; round += 1)
      for (const [i, hit] of variants.entries()) costs[i].push(await cpuOf(hit));
    const [ours, theirs] = costs.map((each) => each.sort((a, b) => a - b)[rounds >> 1]);
    const compared = theirs === undefined ? ['–', '–'] : [theirs.toFixed(1), (ours / theirs).toFixed(2)];
    rows.push([`${host}, ${what}`, ours.toFixed(1), ...compared]);
  }
}
const text = [
  `${hardwareText()}. Medians of ${rounds} rounds of ${hits} hits, ${IN_FLIGHT} in flight, ${KEYS} keys.`,
  table('µs of CPU a hit, Redis', ['Sluice', "the host's Redis store", 'ratio'], rows),
  `${loadText(noise())}.`,
].join('\n\n');
console.log(text);
if (values.write) writeSection('host-stores', text);
await store.close();
await client.quit();
const server = inspector(redis.url);
await server.deleteKeys(`*${prefix}*`);
server.close();
await redis.stop();

/** µs of CPU of this process for each of many hits. */
async function cpuOf(hit) {
  let next = 0;
  const work = async () => {
    while (next < hits) {
      next += 1;
      await hit(`k${next % KEYS}`);
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / hits;
}

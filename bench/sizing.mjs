// What a key takes in Redis and in memory, and what a decision costs Redis: the figures of docs/operations.md.
//   node bench/sizing.mjs           about two minutes, after npm run build
//   node bench/sizing.mjs --quick   a few seconds, to see that it works
// Redis: REDIS_URL, or one that it starts itself. Nobody else should use it meanwhile.
import { cpus } from 'node:os';
import { memoryStore, RateLimiter, recommendedRedisOptions, redisStore } from '@sluice/core';
import { Redis } from 'ioredis';
import { median } from './lib/measure.mjs';
import { benchRedis, inspector } from './lib/redis.mjs';
import { growth } from './lib/size.mjs';
import { decisions, states } from './lib/states.mjs';

const [option] = process.argv.slice(2);
if (option !== undefined && option !== '--quick') {
  console.error(`unknown option ${option}; usage: node bench/sizing.mjs [--quick]`);
  process.exit(2);
}
const quick = option === '--quick';
const KEYS = quick ? 100 : 20_000;
const HOT_KEYS = quick ? 100 : 1_000;
const ROUNDS = 5;
/** Times that each of them is asked in a round. A log remembers them all, and as many holders are there. */
const ASKED = quick ? 1 : 10;
const IN_FLIGHT = 50;

const redis = await benchRedis();
const server = inspector(redis.url);
const client = new Redis(redis.url, { ...recommendedRedisOptions, socketTimeout: 30_000 });
const store = redisStore(client);
const prefix = `s${process.pid}`; // about as long as the default, 'sluice'
try {
  console.log(
    `${cpus().length} cores (${cpus()[0].model}), Node ${process.versions.node}, Redis ${await server.version()}\n`,
  );
  await printSizes();
  await printCosts();
} finally {
  await server.deleteKeys(`${prefix}:*`);
  await store.close();
  client.disconnect();
  server.close();
  await redis.stop();
}

/**
 * Bytes a key: as `MEMORY USAGE` tells, which leaves out the TTL and the tables of all keys; by how much Redis grows with each of many;
 * and by how much this process does with a memory store.
 */
async function printSizes() {
  row('bytes a key', 'MEMORY USAGE', 'Redis grows by', 'memoryStore');
  row('---', '---:', '---:', '---:');
  for (const { name, policy, fill, entries = 1 } of states) {
    const count = KEYS / Math.min(entries, 10);
    const keys = Array.from({ length: count }, (_, i) => `user:${1_000_000 + i}`);
    const limiter = limiterOf(policy, store);
    await fill(limiter, 'warm-up');
    const before = await server.memory();
    await inTurns(keys, (key) => fill(limiter, key));
    const grown = (await server.memory()) - before;
    const [key] = await client.keys(`${prefix}:*{${keys[0]}}`);
    const usage = await client.memory('USAGE', key);
    await limiter.close();
    await server.deleteKeys(`${prefix}:*`);

    const memory = memoryStore({ maxKeys: 2 * KEYS });
    const local = limiterOf(policy, memory);
    const { grown: kept } = await growth(() => inTurns(keys, (key) => fill(local, key)));
    await local.close();
    await memory.close();
    row(name, usage, Math.round(grown / count), Math.round(kept / count));
  }
}

/** Medians of µs of Redis's CPU a decision, `used_cpu_user` and `used_cpu_sys` of `INFO`: the script and all around it. */
async function printCosts() {
  console.log();
  row('Redis CPU, µs a decision', 'allowed', 'denied');
  row('---', '---:', '---:');
  for (const { name, allowed, denied, used } of decisions) {
    row(name, await cost(allowed, 1, true), await cost(denied, used, false));
  }
}

/** @param asked calls of each key that come before those that are measured */
async function cost(policy, asked, expected) {
  const limiter = limiterOf(policy, store);
  const keys = Array.from({ length: HOT_KEYS }, (_, i) => `user:${i}`);
  const decide = async (key) => {
    const { allowed } = await limiter.consume(key);
    if (allowed !== expected) throw new Error(`${limiter.name} answered ${allowed}`);
  };
  for (let call = 0; call < asked; call += 1) await inTurns(keys, (key) => limiter.consume(key));
  const costs = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await server.cpu();
    for (let call = 0; call < ASKED; call += 1) await inTurns(keys, decide);
    costs.push(((await server.cpu()) - before) / (ASKED * HOT_KEYS));
  }
  await limiter.close();
  await server.deleteKeys(`${prefix}:*`);
  return median(costs).toFixed(1);
}

/** Does the work for each, `IN_FLIGHT` of them at a time. */
async function inTurns(items, work) {
  let next = 0;
  const worker = async () => {
    while (next < items.length) await work(items[next++]);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

function limiterOf(policy, where) {
  const limit = Array.isArray(policy) ? { policies: { ...policy } } : { policy };
  return new RateLimiter({ name: 'login', keyPrefix: prefix, store: where, deadline: '30s', ...limit });
}

function row(...cells) {
  console.log(`| ${cells.join(' | ')} |`);
}

// Measures the bytes of a key in Redis and in memory, and the Redis CPU of a decision: the figures of docs/operations.md.
//   node bench/sizing.mjs           about two minutes, after npm run build
//   node bench/sizing.mjs --quick   a few seconds, to see that it works
// Redis: REDIS_URL, or one that it starts itself. No other program should use it meanwhile.
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
const hotKeys = Array.from({ length: quick ? 100 : 1_000 }, (_, i) => `user:${i}`);
const ROUNDS = quick ? 3 : 15;
/** Calls per key in a round. A log stores all of them, and a semaphore has as many holders. */
const ASKED = 3;
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
 * The growth in bytes per key, of Redis and of this process with a memory store. Redis's growth includes the TTL and the share of all
 * tables, which `MEMORY USAGE` leaves out: see docs/choosing.md.
 */
async function printSizes() {
  row('bytes a key', 'Redis', 'memoryStore');
  row('---', '---:', '---:');
  for (const { name, policy, fill, entries = 1 } of states) {
    const count = KEYS / Math.min(entries, 10);
    const keys = Array.from({ length: count }, (_, i) => `user:${1_000_000 + i}`);
    const limiter = limiterOf(policy, store);
    await fill(limiter, 'warm-up');
    const before = await server.memory();
    await inTurns(keys, (key) => fill(limiter, key));
    const grown = (await server.memory()) - before;
    await limiter.close();
    await server.deleteKeys(`${prefix}:*`);

    const memory = memoryStore({ maxKeys: count }); // full: a store that grows has room for up to twice as many
    const local = limiterOf(policy, memory);
    const { grown: kept } = await growth(() => inTurns(keys, (key) => fill(local, key)));
    await local.close();
    await memory.close();
    row(name, Math.round(grown / count), Math.round(kept / count));
  }
}

/**
 * Medians of Redis's CPU per decision, µs (`used_cpu_user` and `used_cpu_sys` of `INFO`), for the script and everything around it. All
 * are measured in turns, so that other load on the machine affects all of them.
 */
async function printCosts() {
  const cells = decisions.map(({ name, allowed, denied, used }, i) => ({
    name,
    sides: [cellOf(`allowed-${i}`, allowed, true, 1), cellOf(`denied-${i}`, denied, false, used)],
  }));
  const sides = cells.flatMap((cell) => cell.sides);
  for (const { limiter, used } of sides) {
    for (let call = 0; call < used; call += 1) await inTurns(hotKeys, (key) => limiter.consume(key));
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { decide, costs } of sides) {
      const before = await server.cpu();
      for (let call = 0; call < ASKED; call += 1) await inTurns(hotKeys, decide);
      costs.push(((await server.cpu()) - before) / (ASKED * hotKeys.length));
    }
  }
  console.log();
  row('Redis CPU, µs a decision', 'allowed', 'denied');
  row('---', '---:', '---:');
  for (const cell of cells) row(cell.name, ...cell.sides.map(({ costs }) => median(costs).toFixed(1)));
  for (const { limiter } of sides) await limiter.close();
}

/** @param used calls of each key before the measured ones */
function cellOf(name, policy, expected, used) {
  const limiter = limiterOf(policy, store, name);
  const decide = async (key) => {
    const { allowed } = await limiter.consume(key);
    if (allowed !== expected) throw new Error(`${name} answered ${allowed}`);
  };
  return { limiter, decide, used, costs: [] };
}

/** Runs the work for each, `IN_FLIGHT` at a time. */
async function inTurns(items, work) {
  let next = 0;
  const worker = async () => {
    while (next < items.length) await work(items[next++]);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

function limiterOf(policy, where, name = 'login') {
  const limit = Array.isArray(policy) ? { policies: { ...policy } } : { policy };
  const failurePolicy = ({ error }) => {
    throw error; // a decision of the failure policy would cost Redis nothing
  };
  return new RateLimiter({
    name,
    keyPrefix: prefix,
    store: where,
    deadline: '30s',
    failurePolicy,
    ...limit,
  });
}

function row(...cells) {
  console.log(`| ${cells.join(' | ')} |`);
}

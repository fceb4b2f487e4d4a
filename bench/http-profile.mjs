// Takes a CPU profile of a server under load, and prints the µs per request of framework, limiter and Redis client.
//   node bench/http-profile.mjs fastify memory            (after npm run build) a framework and a store: memory or redis
//   node bench/http-profile.mjs koa redis --functions=20  also the limiter's most expensive functions
// Redis: REDIS_URL, or one that it starts itself.
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { PEERS } from './http/apps.mjs';
import { shares } from './http/profile.mjs';
import { startServer } from './http/servers.mjs';
import { benchRedis } from './lib/redis.mjs';

const WARM_UP = 3; // seconds, until V8 has compiled the hot code
const SECONDS = 4;
const LIMITS = {
  allowed: { limit: 1_000_000_000, windowMs: 60_000 },
  denied: { limit: 1, windowMs: 3_600_000 },
};

const { framework, store, functions } = options();
const redis = store === 'redis' ? await benchRedis() : undefined;
try {
  print('', ['framework', 'limiter', 'of it deciding', 'Redis client', 'garbage', 'all']);
  await profile('none', 'allowed');
  for (const what of Object.keys(LIMITS))
    for (const limiter of ['sluice', 'peer']) await profile(limiter, what);
} finally {
  await redis?.stop();
}

async function profile(limiter, what) {
  const name = `profile-${process.pid}-${limiter}-${what}`;
  const server = await startServer({ framework, store, limiter, name, redis: redis?.url, ...LIMITS[what] });
  try {
    await load(server, WARM_UP);
    let [requests, cpu] = [0, 0];
    const profile = await server.profiled(async () => {
      const before = await server.cpu();
      requests = await load(server, SECONDS);
      cpu = (await server.cpu()) - before;
    });
    const { by, top } = shares(profile);
    const all = by.framework + by.limiter + by.client + by.garbage;
    // Samples are taken by the clock, also while another process has the core.
    const us = (micros) => ((micros / all) * (cpu / requests)).toFixed(1);
    const title = { none: 'bare', sluice: `Sluice, ${what}`, peer: `${PEERS[framework]}, ${what}` }[limiter];
    print(title, [by.framework, by.limiter, by.deciding, by.client, by.garbage, all].map(us));
    for (const [place, micros] of top.slice(0, functions)) console.log(`    ${us(micros)}  ${place}`);
  } finally {
    await server.stop();
  }
}

async function load({ url }, duration) {
  const done = await autocannon({ url, connections: 50, duration, sampleInt: 50 });
  return done['2xx'] + done.non2xx;
}

function print(title, cells) {
  console.log(`| ${[title.padEnd(34), ...cells.map((cell) => cell.padStart(14))].join(' | ')} |`);
}

function options() {
  const usage =
    'usage: node bench/http-profile.mjs express|fastify|koa|hono memory|redis [--functions=<number>]';
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: { functions: { type: 'string', default: '0' } },
    });
    const [framework, store] = positionals;
    if (!Object.hasOwn(PEERS, framework ?? '')) throw new TypeError(`unknown framework: ${framework}`);
    if (store !== 'memory' && store !== 'redis') throw new TypeError(`unknown store: ${store}`);
    if (!/^\d+$/.test(values.functions))
      throw new TypeError(`--functions needs a whole number, not ${values.functions}`);
    return { framework, store, functions: Number(values.functions) };
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}

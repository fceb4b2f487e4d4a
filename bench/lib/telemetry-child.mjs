// One run of bench/telemetry.mjs: its cells, slice after slice, in one process. V8 optimizes the same code
// differently in each process, which changes the figures by several percent, so the bench starts many. Its only argument is JSON; it sends { columns, cpu } to its parent.
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { core } from './core.mjs';
import { NEVER_REACHED } from './limits.mjs';
import { measure } from './measure.mjs';
import { inspector } from './redis.mjs';
import { modes } from './telemetry-modes.mjs';

const { compares, before, url, prefix, rounds, sliceMs } = JSON.parse(process.argv[2]);
const server = inspector(url);
const clients = [];

const columns = [
  ['memory, consumeSync', 1, (build) => sync(build.memoryStore(), build)],
  ['memory, consume', 1, (build) => async(build.memoryStore(), build)],
  ...[1, 50, 500].map((calls) => [`Redis, ${calls}`, calls, onRedis]),
];
const rows = compares === 'builds' ? await builds() : await withSubscribers();
const measured = columns.map(([column, inFlight, decider]) => {
  const deciders = new Map(); // of one build all rows have the same limiter
  return rows.map(({ id, build, begin }) => {
    if (!deciders.has(build)) deciders.set(build, decider(build));
    const decide = deciders.get(build);
    return { contender: { name: id }, id, column, inFlight, decide, begin, keys: ['user:hot'], expect: true };
  });
});
await measure(measured, { rounds, sliceMs, redisCpu: server.cpu });
server.close();
for (const client of clients) client.disconnect();
process.send({
  columns: measured.map((cells) =>
    cells.map(({ id, column, clientCpu, redisCpu }) => ({ id, column, clientCpu, redisCpu })),
  ),
});
process.disconnect();

async function builds() {
  const older = await import(pathToFileURL(before).href);
  return [
    { id: 'before', build: older },
    { id: 'after', build: core },
    { id: 'again', build: await import(`${pathToFileURL(before)}?again`) }, // the file once more, optimized by itself
  ];
}

async function withSubscribers() {
  const found = await modes(core);
  const rows = found.map(({ id, begin }) => ({ id, build: core, begin }));
  return [...rows, { ...rows[0], id: 'usage', build: counting(core) }];
}

/** Its stores count keys. */
function counting(build) {
  return {
    ...build,
    memoryStore: () => build.memoryStore({ usage: true }),
    redisStore: (client) => build.redisStore({ client, usage: true }),
  };
}

function limiterOf({ RateLimiter, fixedWindow }, store) {
  const policy = fixedWindow({ limit: NEVER_REACHED, window: '7d' });
  return new RateLimiter({ name: 'bench', keyPrefix: prefix, policy, store, deadline: '30s' });
}

function sync(store, build) {
  const limiter = limiterOf(build, store);
  return (key) => limiter.consumeSync(key).allowed;
}

function async(store, build) {
  const limiter = limiterOf(build, store);
  return (key) =>
    limiter.consume(key).then(({ allowed, degraded }) => {
      if (degraded) throw new Error('not decided by the store');
      return allowed;
    });
}

function onRedis(build) {
  const client = new Redis(url, { ...build.recommendedRedisOptions, socketTimeout: 30_000 });
  clients.push(client);
  return async(build.redisStore(client), build);
}

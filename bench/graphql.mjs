// What a limit on costs adds to a GraphQL operation: µs of CPU, by paired runs of servers with and without it in one process.
//   node bench/graphql.mjs            a minute
//   node bench/graphql.mjs --write    also writes the table into bench/README.md
//   node bench/graphql.mjs --calls=500 --runs=3
// Redis: REDIS_URL, or one that it starts itself.
import { parseArgs } from 'node:util';
import { envelop, useEngine, useSchema } from '@envelop/core';
import { buildSchema, execute, parse, subscribe, validate } from 'graphql';
import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { machineText } from './lib/machine.mjs';
import { median } from './lib/measure.mjs';
import { loadText, watchMachine } from './lib/noise.mjs';
import { benchRedis, inspector } from './lib/redis.mjs';
import { loaded } from './lib/sources.mjs';
import { table } from './lib/table.mjs';
import { writeSection } from './lib/write.mjs';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '2000' },
    runs: { type: 'string', default: '15' },
    write: { type: 'boolean', default: false },
  },
});
const calls = Number(values.calls);
const runs = Number(values.runs);
const IN_FLIGHT = 50;
const prefix = `b${process.pid}`;
const LIMIT = 1_000_000_000;

const { costLimit, fixedWindow, RateLimiter, redisStore } = await loaded(
  "export * from '@sluice/graphql'; export { fixedWindow, RateLimiter, redisStore } from '@sluice/core';",
);
const redis = await benchRedis();
const server = inspector(redis.url);
const store = redisStore(redis.url);
const client = new Redis(redis.url);

const schema = buildSchema(`
  type Query { items(first: Int): [Item!]! }
  type Item { id: ID!  name: String!  owner: Owner! }
  type Owner { id: ID!  name: String! }
`);
const item = { id: '1', name: 'item', owner: { id: '2', name: 'owner' } };
const rootValue = { items: () => Array(20).fill(item) };
// 20 of 50 items come back, so each operation is corrected: two calls of the store.
const document = parse('{ items(first: 50) { id name owner { id name } } }');

const policy = fixedWindow({ limit: LIMIT, window: '1h' });
const inMemory = new RateLimiter({ name: 'memory', policy });
const inRedis = new RateLimiter({ name: 'redis', policy, store, keyPrefix: prefix, deadline: '10s' });
const flexible = new RateLimiterRedis({
  ...{ points: LIMIT, duration: 3600, storeClient: client, keyPrefix: `${prefix}:flexible` },
});
const pluginOf = (limiter) => costLimit({ limiter, key: () => 'ann' }).envelop;
const ROWS = {
  'Sluice, memory': pluginOf(inMemory),
  'rate-limiter-flexible with a cost of 1, Redis': {
    onExecute: async () => void (await flexible.consume('ann')),
  },
  'Sluice, Redis': pluginOf(inRedis),
};

try {
  const noise = await watchMachine(() => server.cpu());
  const bare = runnerOf();
  const cells = Object.values(ROWS).map((plugin) => ({ run: runnerOf(plugin), added: [], share: [] }));
  // The first round warms up.
  for (let round = 0; round <= runs; round += 1) {
    for (const { run, added, share } of round % 2 === 0 ? cells : cells.toReversed()) {
      const without = await cpuOf(bare);
      const cost = (await cpuOf(run)) - without;
      if (round === 0) continue;
      added.push(cost);
      share.push((100 * cost) / without);
    }
  }
  const rows = Object.keys(ROWS).map((name, i) => {
    const { added, share } = cells[i];
    const figures = [median(added), Math.min(...added), Math.max(...added), median(share)];
    return [name, ...figures.map((figure) => figure.toFixed(1))];
  });
  const text = [
    `${machineText(await server.version())}. Medians of ${runs} pairs of ${calls} operations, ${IN_FLIGHT} in flight.`,
    table('added to an operation', ['µs of CPU', 'least', 'most', '% of an operation'], rows),
    `${loadText(await noise())}.`,
  ].join('\n\n');
  console.log(text);
  if (values.write) writeSection('graphql', text);
} finally {
  for (const limiter of [inMemory, inRedis]) await limiter.close();
  await store.close();
  await client.quit();
  await server.deleteKeys(`${prefix}*`);
  server.close();
  await redis.stop();
}

/** @returns a function that runs the operation in a server with this plugin */
function runnerOf(...plugins) {
  const engine = useEngine({ parse, validate, execute, subscribe });
  const enveloped = envelop({ plugins: [engine, useSchema(schema), ...plugins] });
  return async () => {
    const { execute: run, contextFactory } = enveloped({});
    const { errors } = await run({ schema, document, rootValue, contextValue: await contextFactory() });
    if (errors !== undefined) throw errors[0];
  };
}

/** µs of CPU of each of many operations. */
async function cpuOf(run) {
  const before = process.cpuUsage();
  let begun = 0;
  const worker = async () => {
    while (begun++ < calls) await run();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

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
import { loadText, watchMachine } from './lib/noise.mjs';
import { pairedHeads, pairedRows } from './lib/paired.mjs';
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
  const noise = watchMachine();
  const bare = runnerOf();
  const pairs = Object.values(ROWS).map((plugin) => ({ bare, call: runnerOf(plugin) }));
  const figures = await pairedRows(pairs, { calls, runs, inFlight: IN_FLIGHT });
  const rows = Object.keys(ROWS).map((name, i) => [name, ...figures[i]]);
  const text = [
    `${machineText(await server.version())}. Medians of ${runs} pairs of ${calls} operations, ${IN_FLIGHT} in flight.`,
    table('added to an operation', pairedHeads('an operation'), rows),
    `${loadText(noise())}.`,
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

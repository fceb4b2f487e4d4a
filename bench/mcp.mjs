// What limits add to a tool call of an MCP server: µs of CPU, by paired runs of servers with and without limits in one process.
//   node bench/mcp.mjs            a minute
//   node bench/mcp.mjs --write    also writes the table into bench/README.md
//   node bench/mcp.mjs --calls=500 --runs=3
// Redis: REDIS_URL, or one that it starts itself.
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
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

const { limitTools, fixedWindow, redisStore } = await loaded(
  "export * from '@sluice/mcp'; export { fixedWindow, redisStore } from '@sluice/core';",
);
const redis = await benchRedis();
const server = inspector(redis.url);
const store = redisStore(redis.url);
const client = new Redis(redis.url);

const perCredential = fixedWindow({ limit: LIMIT, window: '1h' });
const all = { perCredential, perTool: { echo: perCredential }, concurrency: 1000 };
const flexible = { points: LIMIT, duration: 3600 };
const inMemory = new RateLimiterMemory(flexible);
const inRedis = new RateLimiterRedis({ ...flexible, storeClient: client, keyPrefix: `${prefix}:flexible` });
/** What each row does to a server, and to each call of its tool. */
const ROWS = {
  'rate-limiter-flexible called by the tool, memory': [() => {}, () => inMemory.consume('local')],
  'Sluice, `perCredential`, memory': [(mcp) => limitTools(mcp, { perCredential })],
  'Sluice, `perCredential`, `perTool` and `concurrency`, memory': [(mcp) => limitTools(mcp, all)],
  'rate-limiter-flexible called by the tool, Redis': [() => {}, () => inRedis.consume('local')],
  'Sluice, `perCredential`, Redis': [
    (mcp) => limitTools(mcp, { perCredential, store, name: 'one', keyPrefix: prefix, deadline: '10s' }),
  ],
  'Sluice, `perCredential`, `perTool` and `concurrency`, Redis': [
    (mcp) => limitTools(mcp, { ...all, store, name: 'all', keyPrefix: prefix, deadline: '10s' }),
  ],
};

try {
  const noise = watchMachine();
  const bare = await openServer(() => {});
  const pairs = [];
  for (const [limit, each] of Object.values(ROWS)) pairs.push({ bare, call: await openServer(limit, each) });
  const figures = await pairedRows(pairs, { calls, runs, inFlight: IN_FLIGHT });
  const rows = Object.keys(ROWS).map((name, i) => [name, ...figures[i]]);
  const text = [
    `${machineText(await server.version())}. Medians of ${runs} pairs of ${calls} calls, ${IN_FLIGHT} in flight.`,
    table('added to a tool call', pairedHeads('a call'), rows),
    `${loadText(noise())}.`,
  ].join('\n\n');
  console.log(text);
  if (values.write) writeSection('mcp', text);
} finally {
  await store.close();
  await client.quit();
  await server.deleteKeys(`${prefix}*`);
  server.close();
  await redis.stop();
}

/** @returns a function that calls the tool of a server with these limits */
async function openServer(limit, each) {
  const mcp = new McpServer({ name: 'bench', version: '1.0.0' });
  const result = { content: [{ type: 'text', text: 'echo' }] };
  mcp.registerTool('echo', {}, each === undefined ? () => result : () => each().then(() => result));
  limit(mcp);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await mcp.connect(ours);
  const caller = new Client({ name: 'bench', version: '1.0.0' });
  await caller.connect(theirs);
  return async () => {
    const { isError } = await caller.callTool({ name: 'echo' });
    if (isError) throw new Error('a call was denied');
  };
}

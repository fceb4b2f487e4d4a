// What `fetch` through an upstream in memory costs beyond bare fetch: µs of CPU a call, by paired runs in one process.
//   node bench/outgoing-fetch.mjs            a few seconds
//   node bench/outgoing-fetch.mjs --write    also writes the table into bench/README.md
//   node bench/outgoing-fetch.mjs --calls=5000 --runs=5
import { parseArgs } from 'node:util';
import { hardwareText } from './lib/machine.mjs';
import { loadText, watchMachine } from './lib/noise.mjs';
import { loaded } from './lib/sources.mjs';
import { table } from './lib/table.mjs';
import { writeSection } from './lib/write.mjs';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '20000' },
    runs: { type: 'string', default: '9' },
    write: { type: 'boolean', default: false },
  },
});
const calls = Number(values.calls);
const runs = Number(values.runs);

const { upstream, slidingLog } = await loaded(
  "export * from '@sluice/outgoing'; export { slidingLog } from '@sluice/core';",
);
const HEADERS = { RateLimit: '"p";r=9000;t=1', 'RateLimit-Policy': '"p";q=10000;w=1' };
const limits = { requests: slidingLog({ limit: 10_000, window: '1ms' }) };
const ROWS = {
  'no limits, no headers': [{}, {}],
  'no limits, RateLimit headers': [{}, HEADERS],
  'limits, no headers': [{ limits }, {}],
};

const noise = await watchMachine();
const rows = [];
for (const [name, [options, headers]] of Object.entries(ROWS)) {
  const response = new Response(null, { headers });
  const bare = async () => response;
  const client = upstream({ name: 'bench', origin: 'https://api.example.com', fetch: bare, ...options });
  const through = () => client.fetch('/items');
  await cpuOf(bare);
  await cpuOf(through);
  const costs = [];
  for (let run = 0; run < runs; run += 1) {
    const before = await cpuOf(bare);
    costs.push((await cpuOf(through)) - before);
  }
  costs.sort((a, b) => a - b);
  const cells = [costs[runs >> 1], costs[0], costs.at(-1)].map((cost) => cost.toFixed(1));
  rows.push([name, ...cells]);
  await client.close();
}
const text = [
  `${hardwareText()}. Medians of ${runs} pairs of ${calls} calls.`,
  table('fetch through an upstream, beyond bare fetch: µs of CPU a call', ['median', 'least', 'most'], rows),
  `${loadText(await noise())}.`,
].join('\n\n');
console.log(text);
if (values.write) writeSection('outgoing-fetch', text);

/** µs of CPU of each of many calls, one after the other. */
async function cpuOf(call) {
  const before = process.cpuUsage();
  for (let i = 0; i < calls; i += 1) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

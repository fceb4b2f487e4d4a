// What `fetch` through an upstream in memory costs beyond bare fetch: µs of CPU a call, by paired runs in one process.
//   node bench/outgoing-fetch.mjs            a few seconds
//   node bench/outgoing-fetch.mjs --write    also writes the table into bench/README.md
//   node bench/outgoing-fetch.mjs --calls=5000 --runs=5
import { parseArgs } from 'node:util';
import { hardwareText } from './lib/machine.mjs';
import { loadText, watchMachine } from './lib/noise.mjs';
import { pairedRows } from './lib/paired.mjs';
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

const noise = watchMachine();
const rows = [];
// One after the other: with several clients V8 has to tell them apart, and each call costs half as much again.
for (const [name, [options, headers]] of Object.entries(ROWS)) {
  const response = new Response(null, { headers });
  const bare = async () => response;
  const client = upstream({ name: 'bench', origin: 'https://api.example.com', fetch: bare, ...options });
  const pair = { bare, call: () => client.fetch('/items') };
  const [figures] = await pairedRows([pair], { calls, runs, inFlight: 1 });
  rows.push([name, ...figures.slice(0, 3)]);
  await client.close();
}
const text = [
  `${hardwareText()}. Medians of ${runs} pairs of ${calls} calls.`,
  table('fetch through an upstream, beyond bare fetch: µs of CPU a call', ['median', 'least', 'most'], rows),
  `${loadText(noise())}.`,
].join('\n\n');
console.log(text);
if (values.write) writeSection('outgoing-fetch', text);

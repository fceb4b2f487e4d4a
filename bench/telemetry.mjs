// Measures what the diagnostics channels cost: CPU of a decision without subscribers, with one, and with all of @sluice/otel;
// and what the option `usage` of a store costs.
//   node bench/telemetry.mjs            six minutes (after npm run build)
//   node bench/telemetry.mjs --quick    a few seconds, to see that it works
//   node bench/telemetry.mjs --before=/path/index.js    also compares this build, without subscribers, with another one
//   node bench/telemetry.mjs --write    also writes the tables into bench/README.md; needs --before
// Redis: REDIS_URL, or one that it starts itself. SLUICE_BENCH_CORE, SLUICE_BENCH_OTEL: files of other builds.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machineText } from './lib/machine.mjs';
import { median, ratio } from './lib/measure.mjs';
import { loadText, watchMachine } from './lib/noise.mjs';
import { benchRedis, inspector } from './lib/redis.mjs';
import { short } from './lib/report.mjs';
import { table } from './lib/table.mjs';
import { writeSection } from './lib/write.mjs';

const CHILD = fileURLToPath(new URL('lib/telemetry-child.mjs', import.meta.url));
const flag = { type: 'boolean', default: false };
const { quick, write, before } = parseArgs({
  options: { quick: flag, write: flag, before: { type: 'string' } },
}).values;
if (write && (quick || before === undefined))
  throw new Error('--write needs a whole run: leave out --quick, and give --before');

const said = [];
const processes = quick ? 1 : 9;
const run = { rounds: quick ? 1 : 12, sliceMs: quick ? 10 : 50, prefix: `b${process.pid}`, before };

const NAMES = {
  after: 'this build, without subscribers',
  again: 'the reference once more',
  decision: 'one subscriber of `sluice:decision`',
  otel: '`@sluice/otel`, metrics',
  spans: '`@sluice/otel`, metrics and `spans: true`, outside of a trace',
  usage: '`usage: true` of the store',
};

const redis = await benchRedis();
const server = inspector(redis.url);
try {
  say(machineText(await server.version()));
  say(`Medians of ${processes} processes, of each the median of ${run.rounds} slices of ${run.sliceMs} ms.`);
  const noise = watchMachine();
  const found = { builds: before === undefined ? [] : await runs('builds'), modes: await runs('modes') };
  say(`${loadText(noise())}.`);
  if (before !== undefined) say(ratios('client CPU ÷ the build before the channels', found.builds));
  say(ratios('client CPU ÷ without subscribers', found.modes));
  say(micros(found.modes));
  if (write) writeSection('telemetry', said.join('\n\n'));
} finally {
  await server.deleteKeys(`*${run.prefix}*`);
  server.close();
  await redis.stop();
}

/** The columns of each process. */
async function runs(compares) {
  const found = [];
  for (let i = 0; i < processes; i++) found.push(await child({ ...run, compares, url: redis.url }));
  return found;
}

async function child(options) {
  const forked = fork(CHILD, [JSON.stringify(options)]);
  const ended = once(forked, 'close');
  let columns;
  forked.once('message', (message) => {
    columns = message.columns;
  });
  const [code] = await ended;
  if (columns === undefined) throw new Error(`a process of the bench ended with ${code}`);
  return columns;
}

/** Each row divided by the first one, which is the reference. */
function ratios(title, found) {
  const rest = found[0][0].slice(1);
  const value = (columns, c, r) => ratio(columns[c][r].clientCpu, columns[c][0].clientCpu);
  const cell = (c, r) => median(found.map((columns) => value(columns, c, r))).toFixed(3);
  return table(
    title,
    names(found),
    rest.map(({ id }, i) => [NAMES[id], ...found[0].map((_, c) => cell(c, i + 1))]),
  );
}

function micros(found) {
  const cell = (c, r) => short(median(found.map((columns) => median(columns[c][r].clientCpu))));
  return table(
    'client CPU, µs a decision',
    names(found),
    found[0][0].flatMap(({ id }, r) =>
      id === 'again'
        ? []
        : [[id === 'none' ? 'without subscribers' : NAMES[id], ...found[0].map((_, c) => cell(c, r))]],
    ),
  );
}

function names(found) {
  return found[0].map(([{ column }]) => column);
}

function say(text) {
  said.push(text);
  console.log(`${text}\n`);
}

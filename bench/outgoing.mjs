// Calls a service that limits its callers, from four processes, through Sluice and through what others use.
//   node bench/outgoing.mjs                    about four minutes : 10,000 calls at 50 a second for each contender
//   node bench/outgoing.mjs --quick            a few seconds, to see that it works
//   node bench/outgoing.mjs --calls=1000 --rate=200 --latency=200 --others=0.1 --only=sluice,bottleneck
//   node bench/outgoing.mjs --write            also writes the tables into bench/README.md: three runs, about twelve minutes
// `--others`: the part of the limit that other users of the account take. Contenders run at the same time, each with its own service: they
// mostly wait, and so have the same noise. Redis: REDIS_URL, or one that it starts itself.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hardwareText } from './lib/machine.mjs';
import { loadText, watchMachine } from './lib/noise.mjs';
import { startService } from './lib/outgoing/service.mjs';
import { benchRedis } from './lib/redis.mjs';
import { bundled, loaded } from './lib/sources.mjs';
import { table } from './lib/table.mjs';
import { writeSection } from './lib/write.mjs';

const PROCESSES = 4;
const CONTENDERS = ['sluice', 'bottleneck', 'p-throttle', 'effect'];
/** Installed at the first run, into node_modules/.cache: it is too large to install with the repository. */
const EFFECT = { effect: '4.1.0' };

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    calls: { type: 'string' },
    rate: { type: 'string' },
    latency: { type: 'string' },
    others: { type: 'string' },
    only: { type: 'string' },
  },
});
const calls = Number(values.calls ?? (values.quick ? 200 : 10_000));
const rate = Number(values.rate ?? (values.quick ? 100 : 50));
if (
  values.write &&
  (values.quick || values.calls || values.rate || values.latency || values.others || values.only)
)
  throw new Error('--write needs whole runs: leave out the other options');
/** What the service does in each run. */
const runs = values.write
  ? [
      { latency: 0, others: 0 },
      { latency: 200, others: 0 },
      { latency: 200, others: 0.1 },
    ]
  : [{ latency: Number(values.latency ?? 0), others: Number(values.others ?? 0) }];
const chosen = values.only?.split(',') ?? CONTENDERS;

const redis = await benchRedis();
const { registryPackages } = await loaded("export * from './registry-packages.ts'", 'tests/support');
const packages = chosen.includes('effect') ? await registryPackages('effect', EFFECT) : undefined;
const sources = await bundled("export * from '@sluice/core'; export { upstream } from '@sluice/outgoing';");
const said = [];
const say = (text) => {
  said.push(text);
  console.log(`${text}\n`);
};
try {
  const noise = watchMachine();
  say(`${hardwareText()}. ${calls} calls at ${rate} a second, ${PROCESSES} processes.`);
  for (const run of runs) {
    const rows = await Promise.all(chosen.map((contender) => row(contender, run)));
    const title = `replies after ${run.latency} ms, others take ${run.others * 100} %`;
    say(table(title, ['refused', 'of the ideal time', 'fairness'], rows));
  }
  say(`${loadText(noise())}.`);
  if (values.write) writeSection('outgoing', said.join('\n\n'));
} finally {
  sources.remove();
  await redis.stop();
}

/** A line of the table. */
async function row(contender, { latency, others }) {
  const service = await startService({ limit: rate, window: 1000, latency, others });
  try {
    const name = `b${process.pid}-${contender}`;
    const work = {
      contender,
      sources: sources.file,
      packages,
      name,
      origin: service.origin,
      redis: redis.url,
      calls: calls / PROCESSES,
      rate,
      processes: PROCESSES,
    };
    const children = await Promise.all(Array.from({ length: PROCESSES }, () => ready(work)));
    const begun = performance.now();
    const ended = await Promise.all(children.map(run));
    const seconds = (performance.now() - begun) / 1000;
    // The first window may be full at once.
    const ideal = (calls - rate) / (rate * (1 - others)) + latency / 1000;
    const refused = service.refused();
    const halves = ended.map(({ half }) => 1 / half);
    return [
      contender,
      `${refused} (${((100 * refused) / (calls + refused)).toFixed(2)} %)`,
      (seconds / ideal).toFixed(3),
      jain(halves).toFixed(3),
    ];
  } finally {
    await service.stop();
  }
}

/** Jain's index: 1 if all processes were served alike. */
function jain(shares) {
  const sum = shares.reduce((a, b) => a + b);
  return sum ** 2 / (shares.length * shares.reduce((a, b) => a + b * b, 0));
}

/** A process that is ready to call. */
async function ready(work) {
  const file = fileURLToPath(new URL('./lib/outgoing/worker.mjs', import.meta.url));
  const child = fork(file, [JSON.stringify(work)]);
  await message(child);
  return child;
}

function run(child) {
  child.send('go');
  return message(child);
}

function message(child) {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`a process ended with ${code}`)));
  });
}

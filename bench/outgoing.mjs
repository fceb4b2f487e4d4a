// Calls a service that limits its callers, from four processes, through Sluice and through what others use.
//   node bench/outgoing.mjs                    about fifteen minutes : 10,000 calls at 50 a second for each contender
//   node bench/outgoing.mjs --quick            a few seconds, to see that it works
//   node bench/outgoing.mjs --calls=1000 --rate=200 --latency=200 --others=0.1 --only=sluice,bottleneck
// `--others`: the part of the limit that other users of the account take. Redis: REDIS_URL, or one that it starts itself.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startService } from './lib/outgoing/service.mjs';
import { benchRedis } from './lib/redis.mjs';
import { bundled, loaded } from './lib/sources.mjs';

const PROCESSES = 4;
const CONTENDERS = ['sluice', 'bottleneck', 'p-throttle', 'effect'];
/** Installed at the first run, into node_modules/.cache: it is too large to install with the repository. */
const EFFECT = { effect: '4.1.0' };

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    calls: { type: 'string' },
    rate: { type: 'string' },
    latency: { type: 'string', default: '0' },
    others: { type: 'string', default: '0' },
    only: { type: 'string', default: CONTENDERS.join() },
  },
});
const calls = Number(values.calls ?? (values.quick ? 200 : 10_000));
const rate = Number(values.rate ?? (values.quick ? 100 : 50));
const latency = Number(values.latency);
const others = Number(values.others);

const redis = await benchRedis();
const { registryPackages } = await loaded("export * from './registry-packages.ts'", 'tests/support');
const packages = values.only.split(',').includes('effect')
  ? await registryPackages('effect', EFFECT)
  : undefined;
const sources = await bundled("export * from '@sluice/core'; export { upstream } from '@sluice/outgoing';");
try {
  console.log(
    `${calls} calls at ${rate} a second, ${PROCESSES} processes, replies after ${latency} ms, others take ${others * 100} %`,
  );
  console.log('| | refused | of the ideal time | fairness |\n|---|---|---|---|');
  for (const contender of values.only.split(',')) console.log(await row(contender));
} finally {
  sources.remove();
  await redis.stop();
}

/** A line of the table. */
async function row(contender) {
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
    const begun = performance.now();
    const ended = await Promise.all(Array.from({ length: PROCESSES }, () => run(work)));
    const seconds = (performance.now() - begun) / 1000;
    // The first window may be full at once.
    const ideal = (calls - rate) / (rate * (1 - others)) + latency / 1000;
    const refused = service.refused();
    const halves = ended.map(({ half }) => 1 / half);
    const cells = [
      `${refused} (${((100 * refused) / (calls + refused)).toFixed(2)} %)`,
      (seconds / ideal).toFixed(3),
      jain(halves).toFixed(3),
    ];
    return `| ${contender} | ${cells.join(' | ')} |`;
  } finally {
    await service.stop();
  }
}

/** Jain's index: 1 if all processes were served alike. */
function jain(shares) {
  const sum = shares.reduce((a, b) => a + b);
  return sum ** 2 / (shares.length * shares.reduce((a, b) => a + b * b, 0));
}

function run(work) {
  const file = fileURLToPath(new URL('./lib/outgoing/worker.mjs', import.meta.url));
  const child = fork(file, [JSON.stringify(work)]);
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`a process of ${work.contender} ended with ${code}`)));
  });
}

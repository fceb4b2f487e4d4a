// Measures decisions per second, latency, CPU and bytes of Sluice's stores and of other libraries, in one run.
//   node bench/stores.mjs                    about six minutes (after npm run build, or: npm run bench)
//   node bench/stores.mjs --quick            a few seconds, to see that it works
//   node bench/stores.mjs --only=hot,50,upstash    workloads (hot, keys, denied, memory), calls in flight (1, 50, 500), contenders
//   node bench/stores.mjs --write            also writes the tables into bench/README.md, and bench/pictures/stores.svg
// Redis: REDIS_URL, or one that it starts itself. SLUICE_BENCH_CORE: the file of another build of @sluice/core.
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { choose } from './lib/choose.mjs';
import { machineText } from './lib/machine.mjs';
import { measure } from './lib/measure.mjs';
import { measureMemory } from './lib/memory.mjs';
import { watchMachine } from './lib/noise.mjs';
import { picture } from './lib/picture.mjs';
import { benchRedis, inspector } from './lib/redis.mjs';
import { redisCells } from './lib/redis-cells.mjs';
import { memoryTables, noiseText, redisTables, sizesTable } from './lib/report.mjs';
import { writePicture, writeSection } from './lib/write.mjs';

const { quick, write, chosen } = options();
const rounds = quick ? 1 : 15;
const sliceMs = quick ? 10 : 100;
const keys = quick ? 500 : 10_000;
const memoryKeys = quick ? 5_000 : 1_000_000;
const prefix = `b${process.pid}`;
const said = [];

const redis = await benchRedis();
const server = inspector(redis.url);
try {
  say(machineText(await server.version()));
  say(`Medians of ${rounds} slices of ${sliceMs} ms for each cell.`);
  if (chosen.redis.length > 0) await onRedis();
  if (chosen.memory.length > 0) await inMemory();
  if (write) writeSection('stores', said.join('\n\n'));
} finally {
  await server.deleteKeys(`*${prefix}*`);
  server.close();
  await redis.stop();
}

async function onRedis() {
  const cells = redisCells(chosen.redis, {
    connect: (options = {}) => new Redis(redis.url, options),
    prefix,
    server,
    keys,
    workloads: chosen.workloads,
    inFlight: chosen.inFlight,
    settleMs: quick ? 0 : 500,
  });
  try {
    const sizes = await cells.sizes();
    const columns = await cells.columns();
    const noise = watchMachine();
    await measure(columns, { rounds, sliceMs, redisCpu: server.cpu, onRound: progress('Redis') });
    say(`${noiseText(noise(), columns)}.`);
    say(redisTables(columns));
    say(sizesTable(columns, sizes));
    if (write) writePicture('stores.svg', picture(columns, 50));
  } finally {
    cells.close();
  }
}

async function inMemory() {
  const onRound = progress('memory');
  const measured = await measureMemory(chosen.memory, {
    keys: memoryKeys,
    prefix,
    rounds,
    sliceMs,
    onRound,
  });
  say(memoryTables(measured, memoryKeys));
}

function say(text) {
  said.push(text);
  console.log(`${text}\n`);
}

/** Progress, on a terminal only: in a file it would be among the tables. */
function progress(what) {
  if (!process.stderr.isTTY) return undefined;
  return (round) =>
    process.stderr.write(`\r${what}: round ${round} of ${rounds}${round === rounds ? '\n' : ''}`);
}

function options() {
  try {
    const { values } = parseArgs({
      options: { quick: { type: 'boolean' }, write: { type: 'boolean' }, only: { type: 'string' } },
    });
    const { quick = false, write = false, only } = values;
    if (write && (quick || only !== undefined))
      throw new Error('--write needs a whole run: leave out --quick and --only');
    return { quick, write, chosen: choose(only?.split(',')) };
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

// Decisions per second, CPU and bytes of the stores, beside rate-limiter-flexible and plain INCR, in one run.
//   node bench/stores.mjs           about two minutes (after npm run build, or: npm run bench)
//   node bench/stores.mjs --quick   a few seconds, to see that it works
// Redis: REDIS_URL, or one that it starts itself.
import { cpus } from 'node:os';
import { contenders } from './lib/contenders.mjs';
import { measure } from './lib/measure.mjs';
import { benchRedis, inspector } from './lib/redis.mjs';
import { memorySizes } from './lib/size.mjs';

const [option] = process.argv.slice(2);
if (option !== undefined && option !== '--quick') {
  console.error(`unknown option ${option}; usage: node bench/stores.mjs [--quick]`);
  process.exit(2);
}
const quick = option === '--quick';
const rounds = quick ? 1 : 15;
const sliceMs = quick ? 20 : 100;
const memoryKeys = quick ? 100_000 : 1_000_000;
const IN_FLIGHT = [1, 50, 500];

const redis = await benchRedis();
const server = inspector(redis.url);
const prefix = `bench-${process.pid}`;
const { list, denied, close } = contenders(redis.url, prefix);
try {
  console.log(
    `${cpus().length} cores, Node ${process.versions.node}, Redis ${await server.version()}; medians of ${rounds} slices of ${sliceMs} ms\n`,
  );
  const sizes = await redisSizes();
  const cells = await speeds();
  printSpeeds(cells);
  printCosts(cells, sizes);
  await printMemory();
} finally {
  await server.deleteKeys(`${prefix}*`);
  close();
  server.close();
  await redis.stop();
}

async function speeds() {
  const hot = ['user:1'];
  const spread = Array.from({ length: 10_000 }, (_, i) => `user:${i}`);
  const workloads = [
    [list, 'hot key', hot, true],
    [list, '10,000 keys', spread, true],
    [denied, 'denied', ['user:denied'], false],
  ];
  for (const contender of denied) await contender.decide('user:denied');
  const cells = workloads.flatMap(([who, workload, keys, expect]) =>
    who.flatMap((contender) =>
      IN_FLIGHT.map((inFlight) => ({ contender, workload, keys, inFlight, expect })),
    ),
  );
  const progress = (round) =>
    process.stderr.write(`\rround ${round} of ${rounds}${round === rounds ? '\n' : ''}`);
  await measure(cells, { rounds, sliceMs, redisCpu: server.cpu, onRound: progress });
  return cells;
}

/** Bytes that 10,000 new keys take in Redis, each. */
async function redisSizes() {
  const sizes = new Map();
  for (const contender of list.filter(({ where }) => where === 'redis')) {
    await contender.decide('warm-up');
    const before = await server.memory();
    for (let i = 0; i < 10_000; i++) await contender.decide(`size:${i}`);
    sizes.set(contender.name, ((await server.memory()) - before) / 10_000);
  }
  return sizes;
}

/** Thousands of decisions per second, and the ratio to rate-limiter-flexible in the same place. */
function printSpeeds(cells) {
  const columns = ['hot key', '10,000 keys', 'denied'].flatMap((workload) =>
    IN_FLIGHT.map((inFlight) => ({ workload, inFlight })),
  );
  row('thousand decisions/s (ratio)', ...columns.map(({ workload, inFlight }) => `${workload}, ${inFlight}`));
  row('---', ...columns.map(() => '---:'));
  for (const { name, where } of list) {
    const values = columns.map(({ workload, inFlight }) => {
      const at = (who) =>
        cells.find(
          (cell) =>
            cell.contender.name === who &&
            cell.contender.where === where &&
            cell.workload === workload &&
            cell.inFlight === inFlight,
        )?.rate;
      const [rate, peer] = [at(name), at('rate-limiter-flexible')];
      return rate === undefined
        ? ''
        : `${(rate / 1000).toFixed(rate < 1e5 ? 1 : 0)} (${(rate / peer).toFixed(2)})`;
    });
    row(`${name}, ${where}`, ...values);
  }
}

function printCosts(cells, sizes) {
  console.log();
  row('redis, 50 in flight', 'Redis CPU, µs a decision', 'client CPU, µs a decision', 'Redis bytes a key');
  row('---', '---:', '---:', '---:');
  for (const { contender, redisCpu, clientCpu } of cells.filter(
    ({ contender, workload, inFlight }) =>
      contender.where === 'redis' && workload === '10,000 keys' && inFlight === 50,
  )) {
    row(contender.name, redisCpu.toFixed(1), clientCpu.toFixed(1), sizes.get(contender.name).toFixed(0));
  }
}

async function printMemory() {
  console.log();
  row(`memory, ${memoryKeys.toLocaleString('en')} keys`, 'bytes a key', 'of them its own string', 'above it');
  row('---', '---:', '---:', '---:');
  for (const { name, total, own } of await memorySizes(memoryKeys)) {
    row(name, total.toFixed(0), own.toFixed(0), (total - own).toFixed(0));
  }
}

function row(...cells) {
  console.log(`| ${cells.join(' | ')} |`);
}

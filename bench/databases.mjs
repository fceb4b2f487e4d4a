// Measures Sluice and rate-limiter-flexible on SQLite, Postgres and Redis in one run, from the sources of this checkout.
//   node bench/databases.mjs                 about three minutes
//   node bench/databases.mjs --quick         a few seconds, to see that it works
//   node bench/databases.mjs --processes     1, 2, 4 and 8 processes on one row of Postgres, with and without prefetch
//   node bench/databases.mjs --write         also writes the tables into bench/README.md
// Redis: REDIS_URL, or one that it starts itself. Postgres: one that it starts itself, with fsync.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { databaseContenders } from './lib/contenders/databases.mjs';
import { ENOUGH, NEVER_REACHED } from './lib/limits.mjs';
import { machineText } from './lib/machine.mjs';
import { measure, median, quantile, ratio } from './lib/measure.mjs';
import { loadText, watchMachine } from './lib/noise.mjs';
import { cpuOfTree } from './lib/process-cpu.mjs';
import { benchRedis, inspector } from './lib/redis.mjs';
import { bundled, loaded, STORES } from './lib/sources.mjs';
import { table } from './lib/table.mjs';
import { writeSection } from './lib/write.mjs';

const { quick, write, processes } = options();
const rounds = quick ? 1 : 9;
const sliceMs = quick ? 20 : 200;
const keys = quick ? 200 : 10_000;
const prefix = `b${process.pid}`;
const said = [];

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const redis = await benchRedis();
const server = inspector(redis.url);
const { startPostgres } = await loaded("export * from './index.ts'", 'tests/support/postgres');
const postgres = await startPostgres({
  config: { fsync: true, full_page_writes: true, shared_buffers: '128MB' },
});
const clients = [];
const closing = [];
try {
  say(machineText(await server.version()));
  if (processes) await hotRow();
  else await beside();
  if (write) writeSection(processes ? 'hot-row' : 'databases', said.join('\n\n'));
} finally {
  for (const close of closing.reverse()) await close();
  for (const client of clients) client.disconnect();
  await server.deleteKeys(`*${prefix}*`);
  server.close();
  await postgres.stop();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** All stores side by side. */
async function beside() {
  const redisClient = () => {
    const client = new Redis(redis.url);
    clients.push(client);
    return client;
  };
  const places = { folder, postgres: postgres.url, redis: redis.url, redisClient, closing };
  const contenders = databaseContenders(await loaded(STORES), places);
  const spread = Array.from({ length: keys }, (_, i) => `user:${i}`);
  const made = [];
  for (const contender of contenders) {
    const many = await contender.create(ENOUGH, `${prefix}k`);
    for (let from = 0; from < keys; from += 50) await Promise.all(spread.slice(from, from + 50).map(many));
    made.push({ contender, hot: await contender.create(NEVER_REACHED, `${prefix}h`), many });
  }
  const column = (name, inFlight, decideOf, of) =>
    made.map((one) => ({
      contender: one.contender,
      column: name,
      keys: of,
      expect: true,
      inFlight,
      decide: decideOf(one),
    }));
  const columns = [
    column('hot key, 1', 1, ({ hot }) => hot, ['user:hot']),
    column('hot key, 50', 50, ({ hot }) => hot, ['user:hot']),
    column(`${keys.toLocaleString('en')} keys, 50`, 50, ({ many }) => many, spread),
    column(`${keys.toLocaleString('en')} keys, 500`, 500, ({ many }) => many, spread),
  ];
  const serverCpu = async () => (await server.cpu()) + cpuOfTree(postgres.pid);
  const noise = watchMachine();
  await measure(columns, { rounds, sliceMs, redisCpu: serverCpu });
  say(
    `Medians of ${rounds} slices of ${sliceMs} ms for each cell. Postgres with fsync; Sluice's table is UNLOGGED.`,
  );
  say(`${loadText(noise())}.`);
  sayTable('decisions/s', columns, ({ rates }) => thousands(median(rates)));
  sayTable(
    'Sluice ÷ rate-limiter-flexible',
    columns.map((cells) => cells.filter((_, i) => i % 2 === 0)),
    (cell, c) => {
      const peer = columns[c][columns[c].indexOf(cell) + 1];
      return ratio(cell.rates, peer.rates).toFixed(1);
    },
  );
  sayTable(
    'CPU a decision, µs: process + servers',
    columns,
    ({ clientCpu, redisCpu }) => `${median(clientCpu).toFixed(1)} + ${median(redisCpu).toFixed(1)}`,
  );
  sayTable('latency p50 / p99, ms', columns, ({ latencies }) =>
    [0.5, 0.99].map((q) => quantile(latencies, q).toFixed(2)).join(' / '),
  );
}

/** Processes that use one key of Postgres at the same time. */
async function hotRow() {
  const ms = quick ? 200 : 2_000;
  const { file, remove } = await bundled(STORES);
  const rows = [];
  try {
    for (const number of quick ? [1, 2] : [1, 2, 4, 8]) {
      const cells = [];
      for (const prefetch of ['no', 'yes']) {
        const found = await together(number, [file, postgres.url, `hot_${number}_${prefetch}`, prefetch], ms);
        const latencies = found.flatMap((one) => one.latencies);
        const rate = (found.reduce((sum, { decisions }) => sum + decisions, 0) / ms) * 1_000;
        cells.push(thousands(rate), [0.5, 0.99].map((q) => quantile(latencies, q).toFixed(1)).join(' / '));
      }
      rows.push([String(number), ...cells]);
    }
  } finally {
    remove();
  }
  say('All processes call one key, each with 50 calls in flight; decisions/s of all, and p50 / p99 in ms.');
  say(table('processes', ['plain', 'ms', '`prefetch: { most: 1_000 }`', 'ms'], rows));
}

async function together(number, args, ms) {
  const children = Array.from({ length: number }, () =>
    fork(new URL('./lib/processes-child.mjs', import.meta.url), args),
  );
  const next = (child) =>
    new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`a process ended with ${code}`)));
    });
  try {
    await Promise.all(children.map(next));
    const results = children.map(next);
    for (const child of children) child.send(ms);
    return await Promise.all(results);
  } finally {
    for (const child of children) child.kill();
  }
}

function sayTable(title, columns, cellOf) {
  const rows = columns[0].map(({ contender }, i) => [
    contender.name,
    ...columns.map((cells, c) => cellOf(cells[i], c)),
  ]);
  const names = columns.map(([{ column }]) => column);
  say(table(title, names, rows));
}

function thousands(rate) {
  return Math.round(rate < 10_000 ? Math.round(rate / 10) * 10 : Math.round(rate / 100) * 100).toLocaleString(
    'en',
  );
}

function say(text) {
  said.push(text);
  console.log(`${text}\n`);
}

function options() {
  try {
    const { values } = parseArgs({
      options: { quick: { type: 'boolean' }, write: { type: 'boolean' }, processes: { type: 'boolean' } },
    });
    const { quick = false, write = false, processes = false } = values;
    if (write && quick) throw new Error('--write needs a whole run: leave out --quick');
    return { quick, write, processes };
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

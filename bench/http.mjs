// Measures the cost of a limiter in an HTTP server: requests per second and CPU per request, bare, with Sluice, and with the usual
// limiter of each framework, in one run.
//   node bench/http.mjs                    about eight minutes (after npm run build, or: npm run bench)
//   node bench/http.mjs --quick            under a minute, to see that it works
//   node bench/http.mjs --only=express     one framework: express, fastify, koa or hono
// Redis: REDIS_URL, or one that it starts itself.
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { PEERS } from './http/apps.mjs';
import { measureServers, summary } from './http/load.mjs';
import { startServer } from './http/servers.mjs';
import { benchRedis, inspector } from './lib/redis.mjs';

const { quick, only } = options();
const rounds = quick ? 2 : 21;
const sliceMs = quick ? 200 : 400;
const warmUpMs = quick ? 300 : 2000;

const MANY = 1_000_000_000;
const redis = await benchRedis();
const server = inspector(redis.url);
const prefix = `bench-http-${process.pid}`;
try {
  console.log(
    `${cpus().length} cores (load ${loadavg()[0].toFixed(1)} before the first slice), Node ${process.versions.node}, ` +
      `Redis ${await server.version()}; medians of ${rounds} slices of ${sliceMs} ms, ± half the distance between their quartiles`,
  );
  for (const framework of only === undefined ? Object.keys(PEERS) : [only]) {
    print(framework, await measured(framework));
  }
} finally {
  await server.deleteKeys(`*${prefix}*`);
  server.close();
  await redis.stop();
}

/** The bare server runs twice: the distance between the two is the distance to expect between equal servers. */
function variants(framework) {
  const each = ['memory', 'redis'].flatMap((store) =>
    [
      { what: 'allowed', limit: MANY, windowMs: 60_000, status: 200 },
      { what: 'denied', limit: 1, windowMs: 3_600_000, status: 429 },
    ].flatMap((limit) => ['sluice', 'peer'].map((limiter) => ({ limiter, store, ...limit }))),
  );
  const bare = { limiter: 'none', what: 'bare', status: 200 };
  return [bare, { ...bare, what: 'bare, once more' }, ...each].map((variant, i) => ({
    ...variant,
    framework,
    redis: redis.url,
    name: `${prefix}-${framework}-${i}`,
  }));
}

async function measured(framework) {
  const list = variants(framework);
  try {
    const started = await Promise.allSettled(
      list.map(async (variant) => {
        variant.server = await startServer(variant);
      }),
    );
    for (const { reason } of started) if (reason !== undefined) throw reason;
    // Takes the only permit of servers that must deny.
    await Promise.all(list.map(({ server: { url } }) => fetch(url).then((response) => response.text())));
    await measureServers(list, { rounds, sliceMs, warmUpMs, onRound: progress(framework) });
  } finally {
    await Promise.all(list.map(({ server }) => server?.stop()));
  }
  return list;
}

function progress(framework) {
  return (round) =>
    process.stderr.write(`\r${framework}: round ${round} of ${rounds} ${round === rounds ? '\n' : ''}`);
}

/** Compares each slice with the bare slice of the same round, so that a slow moment slows both sides of a ratio. */
function print(framework, list) {
  const [bare] = list;
  console.log();
  row(
    framework,
    'requests/s ÷ bare',
    'CPU a request ÷ bare',
    'requests/s',
    'CPU a request, µs',
    'of it the limiter, µs',
  );
  row('---', ...Array(5).fill('---:'));
  for (const { limiter, what, store, slices } of list) {
    const of = (figure) => slices.map((one, i) => figure(one, bare.slices[i]));
    const name =
      limiter === 'none' ? what : `${limiter === 'sluice' ? 'Sluice' : PEERS[framework]}, ${store}, ${what}`;
    row(
      name,
      ratio(summary(of(({ rate }, { rate: without }) => rate / without))),
      ratio(summary(of(({ cpu }, { cpu: without }) => cpu / without))),
      summary(of(({ rate }) => rate)).median.toFixed(0),
      summary(of(({ cpu }) => cpu)).median.toFixed(1),
      what.startsWith('bare')
        ? ''
        : summary(of(({ cpu }, { cpu: without }) => cpu - without)).median.toFixed(1),
    );
  }
}

function ratio({ median, spread }) {
  return `${median.toFixed(2)} ± ${spread.toFixed(2)}`;
}

function row(...cells) {
  console.log(`| ${cells.join(' | ')} |`);
}

function options() {
  try {
    const { values } = parseArgs({ options: { quick: { type: 'boolean' }, only: { type: 'string' } } });
    if (values.only !== undefined && !Object.hasOwn(PEERS, values.only)) {
      throw new TypeError(`--only must be one of ${Object.keys(PEERS).join(', ')}, not ${values.only}`);
    }
    return values;
  } catch (error) {
    console.error(`${error.message}\nusage: node bench/http.mjs [--quick] [--only=express|fastify|koa|hono]`);
    process.exit(2);
  }
}

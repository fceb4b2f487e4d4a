// Measures `rateLimit({ rules })` with ten rules against ten limits written by hand, one for each router, in Express and in memory: requests per second
// and CPU per request, in one run.
//   node bench/rules.mjs                   about one minute (after npm run build)
//   node bench/rules.mjs --quick           a few seconds, to see that it works
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { measureServers, summary } from './http/load.mjs';
import { startServer } from './http/servers.mjs';

const { quick } = parseArgs({ options: { quick: { type: 'boolean' } } }).values;
const rounds = quick ? 3 : 21;
const sliceMs = quick ? 200 : 600;

const NAMES = { none: 'no limit', written: 'ten limits by hand', rules: 'ten rules' };
const list = ['none', 'none', 'written', 'rules'].map((limiter, i) => ({
  what: i === 1 ? 'no limit, once more' : NAMES[limiter],
  framework: 'express',
  limiter,
  routes: 10,
  limit: 1_000_000_000,
  windowMs: 3_600_000,
  status: 200,
}));
console.log(
  `${cpus().length} cores (load ${loadavg()[0].toFixed(1)} before the first slice), Node ${process.versions.node}; ` +
    `medians of ${rounds} slices of ${sliceMs} ms, ± half the distance between their quartiles`,
);
const servers = [];
try {
  for (const variant of list) {
    const server = await startServer(variant);
    servers.push(server);
    // The eighth of ten: an average place.
    variant.server = { ...server, url: `${server.url}v1/r7/items` };
  }
  await measureServers(list, { rounds, sliceMs, warmUpMs: quick ? 300 : 2000 });
  const [bare] = list;
  console.log('\n| Express, in memory | CPU a request, µs | of it the limits, µs | requests/s ÷ no limit |');
  console.log('| --- | ---: | ---: | ---: |');
  for (const { what, slices } of list) {
    const of = (figure) => summary(slices.map((one, i) => figure(one, bare.slices[i])));
    const shown = ({ median, spread }, digits) => `${median.toFixed(digits)} ± ${spread.toFixed(digits)}`;
    const cpu = shown(
      of((one) => one.cpu),
      1,
    );
    const own = shown(
      of((one, without) => one.cpu - without.cpu),
      1,
    );
    console.log(
      `| ${what} | ${cpu} | ${own} | ${shown(
        of((one, without) => one.rate / without.rate),
        2,
      )} |`,
    );
  }
} finally {
  await Promise.all(servers.map((server) => server.stop()));
}

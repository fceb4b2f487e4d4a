// Compares Sluice and rate-limiter-flexible in a Redis Cluster and on a single Redis, in one run. In the Cluster, Sluice sends one script
// call per node.
//   node bench/cluster.mjs            two minutes (after npm run build)
//   node bench/cluster.mjs --quick    a few seconds, to see that it works
//   node bench/cluster.mjs --write    also writes the Cluster's tables into bench/README.md
// It starts its own Redis Cluster of three masters, and its own single Redis unless REDIS_URL is set. SLUICE_BENCH_CORE: another build of
// @sluice/core.
import { parseArgs } from 'node:util';
import { Cluster, Redis } from 'ioredis';
import { contenders, PEER } from './lib/contenders/index.mjs';
import { inGroups } from './lib/contenders/sluice.mjs';
import { core } from './lib/core.mjs';
import { machineText } from './lib/machine.mjs';
import { measure, ratio } from './lib/measure.mjs';
import { watchMachine } from './lib/noise.mjs';
import { benchCluster, benchRedis, inspector } from './lib/redis.mjs';
import { redisCells } from './lib/redis-cells.mjs';
import { noiseText, redisTables, short, speedOf } from './lib/report.mjs';
import { table } from './lib/table.mjs';
import { writeSection } from './lib/write.mjs';

const flag = { type: 'boolean', default: false };
const { quick, write } = parseArgs({ options: { quick: flag, write: flag } }).values;
if (write && quick) throw new Error('--write needs a whole run: leave out --quick');
const said = [];
const rounds = quick ? 1 : 15;
const sliceMs = quick ? 10 : 100;

const everywhere = contenders.filter(({ id }) =>
  ['sluice-window', 'flexible', 'flexible-again', 'incr'].includes(id),
);
const single = await benchRedis();
const cluster = await benchCluster();
const servers = [single, ...cluster.nodes].map(({ url }) => inspector(url));
const [alone] = servers;
/** CPU of all servers. Idle servers use little. */
const cpu = async () => (await Promise.all(servers.map((server) => server.cpu()))).reduce((a, b) => a + b);

const workload = {
  prefix: `b${process.pid}`,
  keys: quick ? 500 : 10_000,
  workloads: ['hot', 'keys'],
  inFlight: [1, 50, 500],
};
const places = [
  redisCells([...everywhere, inGroups(16)], { ...workload, connect: clusterClient }),
  redisCells(everywhere, { ...workload, connect: (options = {}) => new Redis(single.url, options) }),
];
try {
  const [inCluster, onSingle] = [await places[0].columns(), await places[1].columns()];
  const noise = watchMachine();
  const columns = inCluster.flatMap((column, i) => [column, onSingle[i]]);
  await measure(columns, { rounds, sliceMs, redisCpu: cpu });
  say(machineText(await alone.version()));
  say(`Medians of ${rounds} slices of ${sliceMs} ms for each cell.`);
  say(`${noiseText(noise(), columns)}.`);
  say(leadTable('decisions/s: Sluice ÷ rate-limiter-flexible', speedOf, inCluster, onSingle));
  say(leadTable('CPU a decision: rate-limiter-flexible ÷ Sluice', savingOf, inCluster, onSingle));
  say('In the Cluster:');
  say(redisTables(inCluster));
  if (write) writeSection('cluster', said.join('\n\n'));
  say('On the single Redis:');
  say(redisTables(onSingle));
} finally {
  for (const place of places) place.close();
  await alone.deleteKeys(`*${workload.prefix}*`);
  for (const server of servers) server.close();
  await Promise.all([single.stop(), cluster.stop()]);
}

/** @param redisOptions of a contender that has its own settings for single servers (Sluice) */
function clusterClient(redisOptions) {
  const ours = redisOptions && { ...core.recommendedClusterOptions, redisOptions };
  return new Cluster([...cluster.addresses], ours);
}

/** The ratio of Sluice to rate-limiter-flexible, in the Cluster and on a single Redis. */
function leadTable(title, lead, inCluster, onSingle) {
  const of = (column, who) =>
    lead(
      column,
      column.find(({ contender }) => contender.id === who),
    );
  const rows = [
    ['in the Cluster', inCluster, 'sluice-window'],
    ['the same, with 16 hash tags', inCluster, 'sluice-groups'],
    ['on a single Redis', onSingle, 'sluice-window'],
  ];
  return table(
    title,
    inCluster.map(([{ column }]) => column),
    rows.map(([name, columns, who]) => [name, ...columns.map((column) => short(of(column, who)))]),
  );
}

/** CPU per decision of rate-limiter-flexible, client and servers, divided by Sluice's. Other programs on the machine change it little. */
function savingOf(column, cell) {
  const sum = ({ clientCpu, redisCpu }) => clientCpu.map((client, round) => client + redisCpu[round]);
  const peer = column.find(({ contender }) => contender.id === PEER.redis);
  return ratio(sum(peer), sum(cell));
}

function say(text) {
  said.push(text);
  console.log(`${text}\n`);
}

import { Redis } from 'ioredis';
import { serviceOf } from '../../../packages/cli/src/doctor/checks/service.js';
import { Info } from '../../../packages/cli/src/doctor/info.js';
import { eventually } from '../../support/eventually.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { type RewritingProxy, startRewritingProxy } from '../../support/redis/rewriting-proxy.js';
import { findingsAt, lineOf, linesOf } from './findings.js';

// Replies that no server here sends: a proxy changes the replies of a real server.

let server: RedisServer;
const started: RewritingProxy[] = [];
const through = async (rewrite?: (text: string) => string, targets: number | number[] = server.port) => {
  const proxy = await startRewritingProxy(targets, rewrite);
  started.push(proxy);
  return proxy.url;
};
const withField = (line: string) => (text: string) => text.replace('# Server\r\n', `# Server\r\n${line}\r\n`);

beforeAll(async () => {
  server = await startRedis();
});
afterEach(async () => {
  for (const proxy of started.splice(0)) await proxy.close();
});
afterAll(() => server.stop());

const version = (number: string) => (text: string) =>
  text.replace(/redis_version:[\d.]+/, `redis_version:${number}`);

test.each([
  ['error server-too-old: This is Redis 4.0.14', version('4.0.14')],
  ['warning server-old: This is Redis 6.2.7', version('6.2.7')],
  ['ok server: Redis 8.0.2', version('8.0.2')],
  ['ok server: Valkey 8.1.1', withField('server_name:valkey\r\nvalkey_version:8.1.1')],
  ['warning server-old: This is Valkey 7.2.5', withField('server_name:valkey\r\nvalkey_version:7.2.5')],
  [
    'warning server-untested: This is KeyDB 6.3.4',
    (text: string) => withField('mvcc_depth:0')(version('6.3.4')(text)),
  ],
  ['error server-unsuited: This is Dragonfly df-v1.40.1', withField('dragonfly_version:df-v1.40.1')],
])('%s', async (line, rewrite) => {
  const [, id] = /^\w+ ([a-z-]+)/.exec(line)!;
  expect(await linesOf(id!, await through(rewrite))).toEqual([line]);
});

test('recognizes managed services', async () => {
  const url = await through((text) => text.replace(/^os:.*$/m, 'os:Amazon ElastiCache'));
  expect(await linesOf('managed-service', url)).toEqual([
    expect.stringMatching('^note managed-service: This is ElastiCache: the eviction policy is volatile-lru'),
  ]);
  const nothing = new Info('');
  const hosts = {
    'limits.abc.0001.use1.cache.amazonaws.com': 'ElastiCache',
    'limits-abc.serverless.use1.cache.amazonaws.com': 'ElastiCache Serverless',
    'clustercfg.limits.abc.memorydb.us-east-1.amazonaws.com': 'MemoryDB',
    'apn1-clean-12345.upstash.io': 'Upstash',
    'redis-10000.c1.us-east-1-2.ec2.redis-cloud.com': 'Redis Cloud',
    'limits.redis.cache.windows.net': 'Azure Managed Redis',
    'limits.eastus.redis.azure.net': 'Azure Managed Redis',
    '127.0.0.1': undefined,
  };
  for (const [host, name] of Object.entries(hosts)) expect(serviceOf(host, nothing)?.name).toBe(name);
});

test('reports fields that a server lacks', async () => {
  const url = await through((text) => text.replace(/^(?:evicted_keys|maxmemory_policy):.*\r\n/gm, ''));
  const findings = (await findingsAt(url)).map(lineOf);
  expect(findings).toContain('note not-reported: INFO of this server lacks maxmemory_policy, evicted_keys');
  expect(findings.join('\n')).not.toContain('ok eviction');
});

test('reports a machine without free memory, and evicted scripts', async () => {
  const full = await through((text) =>
    text.replace(/^total_system_memory:\d+/m, 'total_system_memory:1000000'),
  );
  expect(await linesOf('memory-unbounded', full)).toEqual([
    expect.stringMatching('^warning memory-unbounded'),
  ]);
  const evicts = await through((text) => text.replace('# Stats\r\n', '# Stats\r\nevicted_scripts:7\r\n'));
  expect(await linesOf('scripts-evicted', evicts)).toEqual([
    'warning scripts-evicted: The server has evicted 7 scripts',
  ]);
});

/** Only the reply of TIME has ten digits and nothing else. */
const seconds = (change: (time: number) => number) => (text: string) =>
  /^\d{10}$/.test(text) ? String(Math.round(change(Number(text)))) : text;

test.each([
  [/^warning clock-off: The clock of .* is (?:29|30|31)[.\d]* s behind ours$/, (time: number) => time - 30],
  [/^warning clock-off: The clock of .* is \d+[.\d]* s ahead of ours$/, (time: number) => time + 3_600],
  [/^error clock-off: The clock of .* is \d+[.\d]* s ahead of ours$/, (time: number) => time + 200_000],
])('%s', async (line, change) => {
  expect(await linesOf('clock-off', await through(seconds(change)))).toEqual([expect.stringMatching(line)]);
});

test('reports a clock that was never set', async () => {
  expect(await linesOf('clock-unset', await through(seconds(() => 86_400)))).toEqual([
    expect.stringMatching(/^error clock-unset: The clock of .* shows 1970-01-02T/),
  ]);
});

test('reports an address that leads to several servers', async () => {
  const other = await startRedis();
  const url = await through(undefined, [server.port, other.port]);
  const lines = await linesOf('servers-behind-address', url).finally(() => other.stop());
  expect(lines).toEqual([
    expect.stringMatching(/^error servers-behind-address: Two connections to .* reached two servers$/),
  ]);
});

test('reports uncovered slots of a cluster of one node', async () => {
  const node = await startRedis({ args: ['--cluster-enabled', 'yes'] });
  const admin = new Redis(node.url);
  const cluster = [node.url];
  try {
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', 0, 99, 200, 16_383);
    const findings = (await findingsAt({ cluster: [`${node.url}/2`] })).map(lineOf);
    expect(findings).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^error cluster-down: 127.0.0.1:\d+ says that the cluster is down$/),
        'error slots-uncovered: No node serves the slots 100-199',
        'error database-in-cluster: The connection selects database 2',
        expect.stringMatching(/^note shard-without-replica: /),
      ]),
    );
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', 100, 199);
    await eventually(async () => /cluster_state:ok/.test(String(await admin.call('CLUSTER', 'INFO'))));
    expect(await linesOf('one-loss-stops-all', { cluster })).toHaveLength(1);
    expect(await linesOf('cluster-by-address', node.url)).toEqual([]);
  } finally {
    admin.disconnect();
    await node.stop();
  }
});

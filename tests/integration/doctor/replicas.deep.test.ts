import { Redis } from 'ioredis';
import { eventually } from '../../support/eventually.js';
import { startReplica } from '../../support/redis/redis-replica.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { startRewritingProxy } from '../../support/redis/rewriting-proxy.js';
import { TcpProxy } from '../../support/redis/tcp-proxy.js';
import { findingsAt, lineOf, linesOf } from './findings.js';

let primary: RedisServer;
let replica: RedisServer;
let link: TcpProxy;
let admin: Redis;
let ofReplica: Redis;

beforeAll(async () => {
  primary = await startRedis();
  link = await TcpProxy.start(primary.port);
  replica = await startReplica(link.port);
  [admin, ofReplica] = [new Redis(primary.url), new Redis(replica.url)];
});
afterAll(async () => {
  admin.disconnect();
  ofReplica.disconnect();
  await link.close();
  await replica.stop();
  await primary.stop();
});

const online = () => eventually(async () => /slave0:.*state=online/.test(await admin.info('replication')));
const followed = () =>
  eventually(async () => /master_link_status:up/.test(await ofReplica.info('replication')));

test('checks a primary and its replica', async () => {
  await online();
  const findings = await findingsAt(primary.url);
  expect(findings.filter(({ id }) => id === 'server').map(({ node }) => node)).toEqual([
    `127.0.0.1:${primary.port}`,
    `127.0.0.1:${replica.port}`,
  ]);
  expect(findings.map(lineOf)).toEqual(
    expect.arrayContaining([
      'ok connection: 2 servers answered',
      'ok replication: 1 replica',
      'note min-replicas-off: min-replicas-to-write is 0, and there are replicas',
      expect.stringMatching(/^ok clock: all clocks are within/),
    ]),
  );
});

test('reports the number of replicas and the permitted lag', async () => {
  await admin.config('SET', 'min-replicas-to-write', 1);
  // The primary counts good replicas once a second.
  await eventually(async () => /min_slaves_good_slaves:1/.test(await admin.info('replication')));
  expect(await linesOf('min-replicas', primary.url)).toEqual([
    'ok min-replicas: min-replicas-to-write is 1, and 1 is connected',
  ]);
  await admin.config('SET', 'min-replicas-max-lag', 3600);
  expect(await linesOf('min-replicas-slow', primary.url)).toEqual([
    'note min-replicas-slow: min-replicas-max-lag is 3600',
  ]);
  await admin.config('SET', 'min-replicas-to-write', 0);
});

test('reports the address of a replica', async () => {
  expect(await linesOf('primary-is-replica', replica.url)).toEqual([
    expect.stringMatching(/^error primary-is-replica: .* is a replica of 127.0.0.1:\d+$/),
  ]);
});

test('reports a replica whose clock differs', async () => {
  const late = (text: string) => (/^\d{10}$/.test(text) ? String(Number(text) - 30) : text);
  const proxy = await startRewritingProxy(replica.port, late);
  const natMap = { [`127.0.0.1:${replica.port}`]: { host: '127.0.0.1', port: proxy.port } };
  const findings = await findingsAt({ url: primary.url, options: { natMap } }).finally(() => proxy.close());
  expect(findings.map(lineOf)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(
        `^warning clocks-differ: The clock of 127.0.0.1:${primary.port} is (?:29|30)[.\\d]* s ahead of the clock of 127.0.0.1:${proxy.port}$`,
      ),
    ]),
  );
});

test('reports a replica that lags, is unreachable or has lost its primary', async () => {
  await replica.freeze();
  await admin.set('k', 'x'.repeat(1_100_000));
  const expected = [
    /^warning replica-lag: The replica .* is 1\d{6} bytes behind, and was last heard \d s ago$/,
    /^warning replica-unreachable: .* does not answer: no answer to INFO within 200 ms$/,
  ];
  // A busy primary may answer too late, too.
  await eventually(async () => {
    const lines = (await findingsAt(primary.url, { timeout: 200 })).map(lineOf);
    return expected.every((line) => lines.some((one) => line.test(one)));
  });
  await replica.thaw();
  link.blackhole();
  link.disconnectAll();
  await eventually(async () => /master_link_status:down/.test(await ofReplica.info('replication')));
  expect(await linesOf('replica-disconnected', replica.url)).toEqual([
    expect.stringMatching(
      /^error replica-disconnected: This replica has no connection to its primary 127.0.0.1:\d+$/,
    ),
  ]);
  link.pass();
  link.disconnectAll();
  await followed();
});

test('reports a replica that still loads its data', async () => {
  // The primary waits for further replicas before it sends.
  await admin.config('SET', 'repl-diskless-sync-delay', 60);
  await ofReplica.call('REPLICAOF', 'NO', 'ONE');
  await ofReplica.call('FLUSHALL');
  await ofReplica.call('REPLICAOF', '127.0.0.1', primary.port);
  await eventually(async () => /slave0:.*state=wait_bgsave/.test(await admin.info('replication')));
  expect(await linesOf('replica-not-ready', primary.url)).toEqual([
    expect.stringMatching(/^warning replica-not-ready: The replica .* is in state wait_bgsave$/),
  ]);
});

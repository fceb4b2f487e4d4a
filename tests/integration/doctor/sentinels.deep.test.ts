import { Redis } from 'ioredis';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/redis/free-port.js';
import { type RedisSentinels, startRedisSentinels } from '../../support/redis/redis-sentinel.js';
import { startRewritingProxy } from '../../support/redis/rewriting-proxy.js';
import { sluice } from '../cli/sluice.js';
import { findingsAt, lineOf, linesOf } from './findings.js';

let own: RedisSentinels;
const all = () => ({ sentinels: own.addresses, name: own.name });
const ofSentinel = async (at: number, ...[command, ...args]: [string, ...string[]]) => {
  const client = new Redis(own.addresses[at]!.port, '127.0.0.1');
  await client.call(command, ...args).finally(() => client.disconnect());
};

beforeAll(async () => {
  own = await startRedisSentinels();
});
afterAll(() => own.stop());

test('the primary, its replica and the sentinels', async () => {
  const findings = await eventually(async () => {
    const seen = await findingsAt(all());
    return seen.every(({ level }) => level === 'note' || level === 'ok') && seen;
  });
  expect(findings.map(lineOf)).toEqual(
    expect.arrayContaining([
      `ok sentinels: 3 sentinels name 127.0.0.1:${own.master.port} as primary`,
      'ok connection: 2 servers answered',
    ]),
  );
});

test('sluice --sentinel doctor', async () => {
  const addresses = own.addresses.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const args = ['--sentinel', addresses, '--name', own.name, '--json', 'doctor', '--limiter-deadline', '1m'];
  // These sentinels give each other up after 300 ms of silence, which a busy machine causes.
  const { values } = await eventually(async () => {
    const ran = await sluice(args);
    return ran.code === 0 && ran;
  });
  expect(values()).toContainEqual(expect.objectContaining({ what: '2 servers answered' }));
});

test('a name that they do not know, and a sentinel that is out', async () => {
  expect((await findingsAt({ ...all(), name: 'mymaster' })).map(lineOf)).toEqual(
    own.addresses.map(
      ({ port }) => `error sentinel-unknown-name: The sentinel 127.0.0.1:${port} does not know 'mymaster'`,
    ),
  );
  const port = await freePort();
  const sentinels = [...own.addresses, { host: '127.0.0.1', port }];
  expect(await linesOf('sentinel-unreachable', { ...all(), sentinels })).toEqual([
    expect.stringMatching(
      `^warning sentinel-unreachable: The sentinel 127.0.0.1:${port} does not answer: .*ECONNREFUSED`,
    ),
  ]);
});

test('sentinels that disagree', async () => {
  // One of them names the replica, as after a split.
  const { master, replica } = own;
  const swap = (text: string) => (text === String(master.port) ? String(replica.port) : text);
  const proxy = await startRewritingProxy(own.addresses[2]!.port, swap);
  const sentinels = [...own.addresses.slice(0, 2), { host: '127.0.0.1', port: proxy.port }];
  const findings = await findingsAt({ ...all(), sentinels }).finally(() => proxy.close());
  expect(findings.map(lineOf)).toEqual(
    expect.arrayContaining([
      `error sentinels-disagree: The sentinels name 2 primaries of '${own.name}': 127.0.0.1:${master.port}, 127.0.0.1:${replica.port}`,
      expect.stringMatching(`^error primary-is-replica: 127.0.0.1:${replica.port} is a replica of`),
    ]),
  );
});

test('too few of them, and no quorum', async () => {
  await ofSentinel(0, 'SENTINEL', 'SET', own.name, 'quorum', '5');
  expect(await linesOf('sentinel-no-quorum', all())).toEqual([
    expect.stringMatching(/^error sentinel-no-quorum: The sentinel .*: NOQUORUM /),
  ]);
  await ofSentinel(0, 'SENTINEL', 'SET', own.name, 'quorum', '2');
  const two = (text: string) => (text === '2' ? '1' : text);
  const proxies = await Promise.all(own.addresses.map(({ port }) => startRewritingProxy(port, two)));
  const sentinels = proxies.map(({ port }) => ({ host: '127.0.0.1', port }));
  const lines = await linesOf('sentinels-few', { ...all(), sentinels });
  for (const proxy of proxies) await proxy.close();
  expect(lines).toEqual(['warning sentinels-few: There are 2 sentinels']);
});

test('a primary that is down', async () => {
  await own.master.freeze();
  await eventually(async () => {
    const lines = await linesOf('primary-down', all(), { timeout: 200 });
    return lines.length > 0;
  });
  await own.master.thaw();
});

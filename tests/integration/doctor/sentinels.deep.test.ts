import { Redis } from 'ioredis';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/redis/free-port.js';
import {
  type RedisSentinels,
  startRedisSentinels,
  startSentinel,
} from '../../support/redis/redis-sentinel.js';
import { startRedis } from '../../support/redis/redis-server.js';
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

test('checks the primary, its replica and the sentinels', async () => {
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

test('sluice --sentinel doctor checks all servers', async () => {
  const addresses = own.addresses.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const args = ['--sentinel', addresses, '--name', own.name, '--json', 'doctor', '--limiter-deadline', '1m'];
  // These sentinels give each other up after 300 ms of silence, which a busy machine causes.
  const { values } = await eventually(async () => {
    const ran = await sluice(args);
    return ran.code === 0 && ran;
  });
  expect(values()).toContainEqual(expect.objectContaining({ what: '2 servers answered' }));
});

test('reports an unknown name, and an unreachable sentinel', async () => {
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

test('reports sentinels that disagree, and too few sentinels', async () => {
  // Each was set up for another server, and knows no other sentinel.
  const servers = [await startRedis(), await startRedis()] as const;
  const [one, two] = servers.map(({ port }) => `127.0.0.1:${port}`);
  const sentinels = await Promise.all(
    servers.map(async ({ port: primary }) => {
      const port = await freePort();
      const lines = [`port ${port}`, 'bind 127.0.0.1', `sentinel monitor split 127.0.0.1 ${primary} 1`];
      return { host: '127.0.0.1', port, stop: await startSentinel(port, lines.join('\n')) };
    }),
  );
  const findings = await findingsAt({ sentinels, name: 'split' });
  for (const started of [...sentinels, ...servers]) await started.stop();
  expect(findings.map(lineOf)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(
        `^error sentinels-disagree: The sentinels name 2 primaries of 'split': (?:${one}, ${two}|${two}, ${one})$`,
      ),
      'warning sentinels-few: There is 1 sentinel',
    ]),
  );
});

test('reports a missing quorum', async () => {
  await ofSentinel(0, 'SENTINEL', 'SET', own.name, 'quorum', '5');
  expect(await linesOf('sentinel-no-quorum', all())).toEqual([
    expect.stringMatching(/^error sentinel-no-quorum: The sentinel .*: NOQUORUM /),
  ]);
  await ofSentinel(0, 'SENTINEL', 'SET', own.name, 'quorum', '2');
});

test('reports a primary that is down', async () => {
  await own.master.freeze();
  await eventually(async () => {
    const lines = await linesOf('primary-down', all(), { timeout: 200 });
    return lines.length > 0;
  });
  await own.master.thaw();
});

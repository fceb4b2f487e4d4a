import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { redisStore } from '../../../packages/core/src/index.js';
import { freePort } from '../../support/redis/free-port.js';
import { startRedisCluster } from '../../support/redis/redis-cluster.js';
import {
  AUTHORITY,
  CERTIFICATE,
  startTlsRedis,
  startTlsSentinel,
  type TlsRedis,
  tlsArguments,
  WRONG_AUTHORITY,
} from '../../support/redis/redis-tls.js';
import { service } from './fleet-process.js';
import { openLivePage } from './live-page.js';
import { sluice } from './sluice.js';

let server: TlsRedis;
let store: ReturnType<typeof redisStore>;
let limiters: Awaited<ReturnType<typeof service>>;
/** The address without TLS, but with the TLS port. */
const plainUrl = () => server.tlsUrl.replace('rediss:', 'redis:');

beforeAll(async () => {
  server = await startTlsRedis();
  store = redisStore({ url: server.tlsUrl, tls: { ca: readFileSync(AUTHORITY) } });
  limiters = await service(store);
});
afterAll(async () => {
  await Promise.all(Object.values(limiters).map((limiter) => limiter.close()));
  await store.close();
  await server.stop();
});

const LISTED = { code: 0, stderr: '', stdout: expect.stringMatching(/^login +perMinute/m) };
const run = (...args: string[]) => sluice(args, { COLUMNS: '1000' });

test.each([
  ['rediss://', (url: string) => ['--redis', url]],
  ['valkeys://', (url: string) => ['--redis', url.replace('rediss', 'valkeys')]],
  ['--tls', (url: string) => ['--redis', url.replace('rediss', 'redis'), '--tls']],
  ['a name of the certificate', (url: string) => ['--redis', url.replace('127.0.0.1', 'localhost')]],
])('ls accepts %s with --ca', async (_, at) => {
  expect(await run('ls', ...at(server.tlsUrl), '--ca', AUTHORITY)).toMatchObject(LISTED);
});

test('commands log in with a user and a password over TLS', async () => {
  const admin = new Redis(server.url);
  await admin.call('ACL', 'SETUSER', 'ann', 'reset', 'on', '>p@ss/w%rd', '~*', '+@all');
  admin.disconnect();
  const url = server.tlsUrl.replace('//', '//ann@');
  const args = ['ls', '--redis', url, '--ca', AUTHORITY];
  expect(await sluice(args, { REDIS_PASSWORD: 'p@ss/w%rd' })).toMatchObject(LISTED);
  const { code, stderr } = await sluice(args, { REDIS_PASSWORD: 'wrong' });
  expect([code, stderr]).toEqual([2, expect.stringContaining('refuses the login')]);
  const whole = server.tlsUrl.replace('//', `//ann:${encodeURIComponent('p@ss/w%rd')}@`);
  expect(
    await sluice(['ls', '--redis', whole, '--ca', AUTHORITY], { REDIS_PASSWORD: 'of another' }),
  ).toMatchObject(LISTED);
  const page = await openLivePage(['--redis', whole, '--ca', AUTHORITY]);
  expect(await page.until('events', ['"name":"login"', 'findings\ndata: ['])).not.toContain('unreachable');
  expect(await page.stop()).toBe(0);
});

test.each([
  ['no --ca', () => ['--redis', server.tlsUrl]],
  ['another authority', () => ['--redis', server.tlsUrl, '--ca', WRONG_AUTHORITY]],
])('an untrusted certificate fails with the remedy: %s', async (_, at) => {
  const { code, stderr } = await run('ls', ...at());
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/^sluice: rediss:\S+ shows a certificate that is not trusted: .*self-signed cert/),
  ]);
  expect(stderr.replace(/\s+/g, ' ')).toContain('Give the certificate of its authority with --ca FILE.');
  const doctor = await run('doctor', ...at());
  expect([doctor.code, doctor.stdout]).toEqual([2, expect.stringContaining('self-signed certificate')]);
});

test('a connection without TLS to a TLS server fails with the remedy, and the reverse', async () => {
  for (const at of [[plainUrl()], [server.url, '--tls']]) {
    const { code, stderr } = await run('ls', '--deadline', '500ms', '--redis', ...at);
    expect([code, stderr]).toEqual([2, expect.stringContaining('If it wants TLS: rediss:// or --tls.')]);
  }
});

test.each([
  [['--ca', __filename], /--ca: .*tls.deep.test.ts is no file with certificates/],
  [['--ca', '/nowhere'], /--ca: \/nowhere is no file with certificates: ENOENT/],
])('ls rejects %j', async (more, message) => {
  const { code, stderr } = await run('ls', '--redis', server.tlsUrl, ...more);
  expect([code, stderr.replace(/\s+/g, ' ')]).toEqual([2, expect.stringMatching(message)]);
});

test('commands connect to a cluster over TLS', async () => {
  const port = await freePort();
  const cluster = await startRedisCluster({
    masters: 1,
    args: [...tlsArguments(port, CERTIFICATE), '--tls-cluster', 'yes'],
  });
  const at = ['--cluster', `127.0.0.1:${port}`, '--tls'];
  const own = redisStore({
    cluster: [{ host: '127.0.0.1', port }],
    tls: { ca: readFileSync(AUTHORITY) },
  });
  const its = await service(own);
  try {
    expect(await run('ls', ...at, '--ca', AUTHORITY)).toMatchObject(LISTED);
    expect((await run('inspect', 'ann', ...at, '--ca', AUTHORITY)).code).toBe(0);
    expect((await run('doctor', '--limiter-deadline', '1m', ...at, '--ca', AUTHORITY)).code).toBe(0);
    expect((await run('ls', ...at)).stderr).toMatch(
      /^sluice: The cluster .* shows a certificate that is not trusted: 127.0.0.1:\d+: self-signed/,
    );
  } finally {
    await Promise.all(Object.values(its).map((limiter) => limiter.close()));
    await own.close();
    await cluster.stop();
  }
});

test('commands connect through a Sentinel over TLS', async () => {
  const sentinel = await startTlsSentinel(Number(new URL(server.tlsUrl).port));
  const at = ['--sentinel', `127.0.0.1:${sentinel.port}`, '--name', 'mymaster', '--tls'];
  try {
    expect(await run('ls', ...at, '--ca', AUTHORITY)).toMatchObject(LISTED);
    expect((await run('doctor', ...at, '--ca', AUTHORITY)).stdout).toContain('There is 1 sentinel\n');
    expect((await run('ls', ...at)).stderr).toMatch(
      /^sluice: 'mymaster' of the sentinels .* shows a certificate that is not trusted: 127.0.0.1:\d+: self-/,
    );
  } finally {
    await sentinel.stop();
  }
});

import { Redis } from 'ioredis';
import { freePort } from '../../support/redis/free-port.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { sluice } from '../cli/sluice.js';

let server: RedisServer;
let admin: Redis;

beforeAll(async () => {
  server = await startRedis();
  admin = new Redis(server.url);
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

/** So generous that a busy machine causes no finding. */
const doctor = (url: string, ...more: string[]) =>
  sluice(['--redis', url, '--deadline', '10s', 'doctor', '--limiter-deadline', '1m', ...more]);

test('exits with 0, 1 or 2 for notes, warnings or errors; --json prints a finding per line', async () => {
  const fine = await doctor(server.url);
  expect(fine).toMatchObject({ code: 0, stderr: '' });
  expect(fine.stdout).toMatch(/^note append-only-off\n/m);
  expect(fine.stdout).toMatch(/^ok server: (?:Redis|Valkey) /m);
  await admin.config('SET', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru');
  const warned = await doctor(server.url, '--json');
  expect(warned.code).toBe(1);
  expect(warned.values()[0]).toEqual({
    id: 'eviction-policy',
    level: 'warning',
    what: 'maxmemory-policy is allkeys-lru',
    why: expect.any(String),
    fix: expect.stringMatching(/^CONFIG SET maxmemory-policy noeviction/),
    node: `127.0.0.1:${server.port}`,
  });
  const port = await freePort();
  const out = await doctor(`redis://:secret@127.0.0.1:${port}`);
  expect(out.code).toBe(2);
  expect(out.stdout).toMatch(`error unreachable\n  127.0.0.1:${port} does not answer`);
  expect(out.stdout + out.stderr).not.toContain('secret');
});

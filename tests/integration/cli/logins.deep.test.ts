import { readDefinitions } from '@sluice/fleet';
import { connectionOf } from '../../../packages/cli/src/connection.js';
import { fixedWindow, RateLimiter, redisStore } from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { startRedisSentinels } from '../../support/redis/redis-sentinel.js';
import { startRedis } from '../../support/redis/redis-server.js';
import { sluice } from './sluice.js';

const policy = fixedWindow({ limit: 1, window: '1h' });

/** A limiter that denies ann. */
async function deniesAnn(store: ReturnType<typeof redisStore>): Promise<() => Promise<void>> {
  const limiter = new RateLimiter({ name: 'login', policy, store, deadline: '10s', denyCache: false });
  await limiter.consume('ann');
  await eventually(async () => (await readDefinitions(store)).length === 1);
  return async () => {
    await limiter.close();
    await store.close();
  };
}

test('commands read the passwords of servers and sentinels from the environment', async () => {
  const own = await startRedisSentinels({ servers: 'of servers', sentinels: 'of-sentinels' });
  const { addresses, name } = own;
  const login = { REDIS_PASSWORD: 'of servers', SENTINEL_PASSWORD: 'of-sentinels', COLUMNS: '1000' };
  const at = ['--sentinel', addresses.map(({ port }) => `127.0.0.1:${port}`).join(','), '--name', name];
  const close = await deniesAnn(
    redisStore({
      sentinels: addresses,
      name,
      password: 'of servers',
      options: { sentinelPassword: 'of-sentinels' },
    }),
  );
  try {
    expect(await sluice(['explain', 'login', 'ann', ...at], login)).toMatchObject({ code: 1, stderr: '' });
    const doctor = await sluice(['doctor', '--json', ...at], login);
    expect(doctor.values()).toContainEqual(expect.objectContaining({ what: '2 servers answered' }));
    const ofSentinels = await sluice(['ls', ...at], { ...login, SENTINEL_PASSWORD: 'wrong' });
    expect([ofSentinels.code, ofSentinels.stderr]).toEqual([
      2,
      expect.stringMatching(/WRONGPASS[\s\S]*SENTINEL_PASSWORD/),
    ]);
    const ofServers = await sluice(['ls', ...at], { ...login, REDIS_PASSWORD: 'wrong' });
    expect([ofServers.code, ofServers.stderr]).toEqual([2, expect.stringContaining('refuses the login')]);
  } finally {
    await close();
    await own.stop();
  }
});

test('--client-prefix finds the limiters of processes with a keyPrefix', async () => {
  const server = await startRedis();
  const env = { REDIS_URL: server.url };
  const close = await deniesAnn(redisStore({ url: server.url, options: { keyPrefix: 'shop:' } }));
  const at = ['--client-prefix', 'shop:'];
  try {
    expect((await sluice(['explain', 'login', 'ann'], env)).stderr).toContain('--client-prefix');
    expect((await sluice(['explain', 'login', 'ann', ...at], env)).stdout).toMatch(/^No: /);
    expect(await sluice(['reset', 'ann', '--yes', ...at], env)).toMatchObject({ code: 0, stderr: '' });
    expect((await sluice(['explain', 'login', 'ann', ...at], env)).stdout).toMatch(/^Yes: /);
    const doctor = await sluice(['doctor', '--json', ...at], env);
    expect(doctor.values()).toContainEqual(
      expect.objectContaining({ id: 'layouts', what: expect.stringMatching(/^[1-9]/) }),
    );
  } finally {
    await close();
    await server.stop();
  }
});

test.each([
  [{ redis: 'redis://[::1]:6380/3' }, [{ host: '::1', port: 6380, db: 3 }], 'redis://[::1]:6380/3'],
  [{ redis: 'redis://[2001:db8::7]' }, [{ host: '2001:db8::7', port: 6379 }], 'redis://[2001:db8::7]'],
  [
    { sentinel: '[::1]:1,[2001:db8::7]', name: 'm' },
    [
      {
        sentinels: [
          { host: '::1', port: 1 },
          { host: '2001:db8::7', port: 26379 },
        ],
      },
    ],
    "'m' of the sentinels [::1]:1, [2001:db8::7]:26379",
  ],
  [{ cluster: '[::1], [::2]:7' }, [], 'The cluster [::1]:6379, [::2]:7'],
])('--redis and others accept the IPv6 address %j', async (given, options, address) => {
  const connection = await connectionOf({ deadline: '1s', ...given }, {});
  expect([connection.redis!.client.options].slice(0, options.length)).toMatchObject(options);
  expect(connection.address).toBe(address);
  await connection.close();
});

// Options take precedence over the address, and the address over the environment.
test.each([
  ['redis://h', {}, {}, [undefined, undefined]],
  ['redis://h', {}, { REDIS_USERNAME: 'eve', REDIS_PASSWORD: 'e' }, ['eve', 'e']],
  ['redis://ann@h', {}, { REDIS_PASSWORD: 'e' }, ['ann', 'e']],
  ['redis://:a%2Fb@h', {}, { REDIS_PASSWORD: 'e' }, [undefined, 'a/b']],
  ['redis://ann:a@h', {}, { REDIS_USERNAME: 'eve', REDIS_PASSWORD: 'e' }, ['ann', 'a']],
  ['redis://ann:a@h', { user: 'bob' }, { REDIS_PASSWORD: 'e' }, ['bob', 'e']],
  ['redis://:a@h', { user: 'bob' }, {}, ['bob', 'a']],
])('logs in by the option, the address or the environment: %s %j %j', async (redis, user, env, expected) => {
  const connection = await connectionOf({ deadline: '1s', redis, ...user }, env);
  const { client, server } = connection.redis!;
  const { username, password } = (client as import('ioredis').Redis).options;
  expect([username ?? undefined, password ?? undefined]).toEqual(expected);
  expect([server.username, server.password]).toEqual(expected);
  expect(JSON.stringify(connection.address)).not.toContain(':a');
  await connection.close();
});

// `sluice copy` has two stores, and the options of all commands are for the one without an address of its own.
test.each([
  ['redis://ann:a@h', ['ann', 'a']],
  ['redis://:a@h', [undefined, 'a']],
  ['redis://h', ['bob', 'e']],
])('--user leaves a login in the address of another store as it is: %s', async (address, expected) => {
  const connection = await connectionOf(
    { deadline: '1s', cluster: 'c', user: 'bob' },
    { REDIS_PASSWORD: 'e' },
    { address },
  );
  const { username, password } = (connection.redis!.client as import('ioredis').Redis).options;
  expect([username ?? undefined, password ?? undefined]).toEqual(expected);
  await connection.close();
});

test.each([
  ['redis://ann:100%@h', 'has a % of its own'],
  ['redis://h/shop', "There is no database 'shop'"],
])('--redis rejects %s', async (redis, message) => {
  await expect(connectionOf({ deadline: '1s', redis }, {})).rejects.toThrow(message);
});

import { Redis } from 'ioredis';
import {
  fixedWindow,
  isStoreConfigurationError,
  isStoreUnavailableError,
  RateLimiter,
  recommendedRedisOptions,
  redisStore,
  type Store,
} from '../../packages/core/src/index.js';
import { type RedisServer, startRedis } from '../support/redis/redis-server.js';
import { TcpProxy } from '../support/redis/tcp-proxy.js';
import { uniqueName } from '../support/redis-url.js';

const LIMIT = 1_000;
const limiterOn = (store: Store, deadline: string | number = 100) =>
  new RateLimiter({
    name: uniqueName('fault'),
    policy: fixedWindow({ limit: LIMIT, window: '1h' }),
    store,
    deadline,
  });
const caught = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** How many permits the server has counted for key `k`. */
const counted = async (limiter: RateLimiter) => LIMIT - (await limiter.peek('k')).remaining;

let server: RedisServer;
let opened: { close(): unknown }[] = [];
const open = <T extends { close(): unknown }>(thing: T): T => {
  opened.push(thing);
  return thing;
};

beforeEach(async () => {
  server = await startRedis();
});
afterEach(async () => {
  for (const thing of opened.reverse()) await thing.close();
  opened = [];
  await server.stop();
});

test('constructing opens no connection; the first call does', async () => {
  const proxy = open(await TcpProxy.start(server.url));
  const limiter = limiterOn(open(redisStore(proxy.url)), '5s');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(proxy.connections).toBe(0);
  expect(await limiter.consume('k')).toMatchObject({ allowed: true });
  expect(proxy.connections).toBe(1);
});

test('a dead server: a coded error that names the reason, within the deadline, and recovery by itself', async () => {
  const limiter = limiterOn(open(redisStore(server.url)));
  await server.kill();
  const started = performance.now();
  const error = await caught(limiter.consume('k'));
  expect(isStoreUnavailableError(error) && error).toMatchObject({
    code: 'SLUICE_STORE_UNAVAILABLE',
    status: 503,
  });
  expect(String(error)).toMatch(/ECONNREFUSED|no answer within 100 ms/);
  expect(performance.now() - started).toBeLessThan(5_000);

  await server.restart();
  await expect(eventually(() => limiter.consume('k'))).resolves.toMatchObject({
    allowed: true,
    remaining: LIMIT - 1,
  });
});

test('calls made while the server is away are not counted when it is back: own client', async () => {
  const limiter = limiterOn(open(redisStore(server.url)), '2s');
  await limiter.consume('warm-up');
  await server.kill();
  const patient = limiterOn(open(redisStore(server.url)));
  const errors = await Promise.all(Array.from({ length: 100 }, () => caught(patient.consume('k'))));
  expect(errors.every(isStoreUnavailableError)).toBe(true);
  await server.restart();
  await eventually(() => patient.peek('k'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await counted(patient)).toBe(0);
});

test('calls made while the server is away are not counted when it is back: a borrowed client with its own queue', async () => {
  const client = new Redis(server.url, { retryStrategy: () => 20 });
  client.on('error', () => {});
  open({ close: () => client.disconnect() });
  const limiter = limiterOn(open(redisStore(client)));
  await eventually(() => limiter.consume('warm-up'));
  await server.kill();
  await eventually(async () => {
    if (client.status === 'ready') throw new Error('still ready');
  });
  const errors = await Promise.all(Array.from({ length: 100 }, () => caught(limiter.consume('k'))));
  expect(errors.every(isStoreUnavailableError)).toBe(true);
  await server.restart();
  await eventually(() => limiter.peek('k'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await counted(limiter)).toBe(0);
});

test('a frozen server: an error at the deadline, and what was under way is counted once at most', async () => {
  const limiter = limiterOn(open(redisStore(server.url)));
  await eventually(() => limiter.consume('k'));
  await server.freeze();
  const error = await caught(limiter.consume('k'));
  expect(isStoreUnavailableError(error) && String(error)).toMatch(/no answer within 100 ms/);
  await server.thaw();
  await eventually(() => limiter.peek('k'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await counted(limiter)).toBeLessThanOrEqual(2);
});

test.each([
  ['own client', (url: string) => redisStore(url)],
  [
    'borrowed client with the recommended settings',
    (url: string) => {
      const client = new Redis(url, { ...recommendedRedisOptions });
      client.on('error', () => {});
      open({ close: () => client.disconnect() });
      return redisStore(client);
    },
  ],
])('a lost reply: the call fails, is counted once and is not sent again (%s)', async (_, storeOn) => {
  const proxy = open(await TcpProxy.start(server.url));
  const limiter = limiterOn(open(storeOn(proxy.url)), '2s');
  await eventually(() => limiter.consume('warm-up'));
  proxy.resetNextReply();
  expect(isStoreUnavailableError(await caught(limiter.consume('k')))).toBe(true);
  expect(proxy.lostReplies).toBe(1);
  await eventually(() => limiter.peek('k'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await counted(limiter)).toBe(1);
});

test('SCRIPT FLUSH and an empty restart go unseen', async () => {
  const limiter = limiterOn(open(redisStore(server.url)), '5s');
  const admin = new Redis(server.url);
  open({ close: () => admin.disconnect() });
  for (let call = 1; call <= 5; call += 1) {
    await admin.script('FLUSH');
    expect(await limiter.consume('k')).toMatchObject({ allowed: true, remaining: LIMIT - call });
  }
});

test('a foreign value under our key and a missing right are configuration errors, told as they are', async () => {
  const limiter = limiterOn(open(redisStore(server.url)), '5s');
  const admin = new Redis(server.url);
  open({ close: () => admin.disconnect() });
  const key = `sluice:v1:fw:${limiter.name}:{k}`;
  await admin.lpush(key, 'theirs');
  const wrongType = await caught(limiter.consume('k'));
  expect(isStoreConfigurationError(wrongType) && wrongType.message).toMatch(/WRONGTYPE/);
  await admin.set(key, 'theirs');
  const foreign = await caught(limiter.consume('k'));
  expect(isStoreConfigurationError(foreign) && foreign.message).toMatch(/foreign value in sluice:v1:fw:/);

  await admin.call('ACL', 'SETUSER', 'guest', 'on', '>secret', '~other:*', '+@all');
  const guest = limiterOn(open(redisStore(`redis://guest:secret@127.0.0.1:${server.port}`)), '5s');
  const denied = await caught(guest.consume('k'));
  expect(isStoreConfigurationError(denied) && denied.message).toMatch(/NOPERM|No permission|can't access/i);
});

test('a server that cannot write now is unavailable, not misconfigured', async () => {
  const admin = new Redis(server.url);
  open({ close: () => admin.disconnect() });
  await admin.config('SET', 'maxmemory', '1');
  const limiter = limiterOn(open(redisStore(server.url)), '5s');
  const error = await caught(limiter.consume('k'));
  expect(isStoreUnavailableError(error) && error.message).toMatch(/OOM/);
});

test('every key has a TTL that ends with its state', async () => {
  const limiter = limiterOn(open(redisStore(server.url)), '5s');
  await limiter.consume('k');
  const admin = new Redis(server.url);
  open({ close: () => admin.disconnect() });
  const keys = await admin.keys('*');
  expect(keys).toEqual([`sluice:v1:fw:${limiter.name}:{k}`]);
  const ttl = await admin.pttl(keys[0]!);
  expect(ttl).toBeGreaterThan(3_590_000);
  expect(ttl).toBeLessThanOrEqual(3_600_002);
});

test('close ends our own client, and leaves a borrowed one', async () => {
  const client = new Redis(server.url);
  open({ close: () => client.disconnect() });
  const borrowing = redisStore(client);
  const limiter = limiterOn(borrowing, '5s');
  await limiter.consume('k');
  await borrowing.close();
  await borrowing.close();
  expect(await client.ping()).toBe('PONG');
  expect(isStoreUnavailableError(await caught(limiter.consume('k')))).toBe(true);

  const own = redisStore(server.url);
  await limiterOn(own, '5s').consume('k');
  await own.close();
  await eventually(async () => {
    const clients = String(await client.client('LIST'));
    if (clients.includes('name=sluice')) throw new Error('still connected');
  });
});

test.each([[''], ['http://127.0.0.1'], ['localhost:6379'], [undefined], [null], [{}], [6379]])(
  'refuses %p as a client',
  (client) => {
    expect(() => redisStore(client as never)).toThrow(/redisStore takes an ioredis client or an address/);
  },
);

/** Tries until it works: for what recovers by itself in its own time. */
async function eventually<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 400) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

import { errorMonitor } from 'node:events';
import { createClient } from 'redis';
import {
  isStoreUnavailableError,
  recommendedRedisOptions,
  redisStore,
} from '../../packages/core/src/index.js';
import { counted, eventually, OwnRedis, rejection } from './own-redis.js';

const redis = new OwnRedis();

let warned: jest.SpyInstance;
beforeEach(() => {
  // A process warns once for each code and subject. Clear them, so that each test sees its warning.
  (globalThis as unknown as Record<symbol, Set<string>>)[Symbol.for('sluice.warnings')]!.clear();
  warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
});
afterEach(() => warned.mockRestore());
const codes = (): unknown[] => warned.mock.calls.map(([, { code }]) => code);

const nodeRedis = () => {
  const client = createClient({ url: redis.server.url });
  redis.open({ close: () => client.destroy() });
  return client;
};

describe('a client that is not the store’s own', () => {
  test('with ioredis’s defaults counts a call whose reply is lost twice, and causes a warning', async () => {
    const proxy = await redis.proxy();
    const limiter = redis.limiter(redisStore(redis.client(proxy.url)), '5s');
    expect(codes()).toEqual(['SLUICE_CLIENT_RESENDS']);
    await limiter.consume('warm-up');
    proxy.resetNextReply();
    await limiter.consume('k');
    expect(proxy.lostReplies).toBe(1);
    expect(await counted(limiter)).toBe(2);
  });

  test('with the recommended settings counts a call whose reply is lost once, without a warning', async () => {
    const proxy = await redis.proxy();
    const limiter = redis.limiter(redisStore(redis.client(proxy.url, recommendedRedisOptions)), '5s');
    await eventually(() => limiter.consume('warm-up'));
    proxy.resetNextReply();
    expect(isStoreUnavailableError(await rejection(limiter.consume('k')))).toBe(true);
    expect(await counted(limiter)).toBe(1);
    expect(codes()).toEqual([]);
  });

  test('has our listeners only while a store is open, and still emits its errors to its owner', async () => {
    const client = redis.client();
    const listeners = () =>
      [...client.eventNames()].map((event) => [event, client.listenerCount(event)]).sort();
    const before = listeners();
    const handlers = client.listenerCount('error');
    const stores = Array.from({ length: 20 }, () => redisStore(client));
    for (const store of stores) await redis.limiter(store, '5s').consume('k');
    expect(client.listenerCount('error')).toBe(handlers);
    expect(client.listenerCount('ready')).toBeLessThanOrEqual(1);
    expect(client.listenerCount(errorMonitor)).toBe(1);
    for (const store of stores) for (let time = 0; time < 2; time += 1) await store.close();
    expect(listeners()).toEqual(before);
    expect(codes()).toEqual(['SLUICE_CLIENT_RESENDS']);
  });

  test('from node-redis that is not open opens at the first call, and its errors do not end the process', async () => {
    await redis.server.kill();
    const store = redisStore(nodeRedis());
    const limiter = redis.limiter(store);
    const error = await rejection(limiter.consume('k'));
    expect(isStoreUnavailableError(error) && error.message).toMatch(/ECONNREFUSED/);
    await redis.server.restart();
    expect(await counted(limiter)).toBe(0);
  });

  test('from node-redis does not send calls later that were made while the server was away', async () => {
    const client = nodeRedis();
    client.on('error', () => undefined);
    await client.connect();
    const limiter = redis.limiter(redisStore(client));
    await eventually(() => limiter.peek('k'));
    const lost = new Promise((resolve) => client.once('reconnecting', resolve));
    await redis.server.kill();
    await lost;
    const errors = await Promise.all(Array.from({ length: 100 }, () => rejection(limiter.consume('k'))));
    expect(errors.every(isStoreUnavailableError)).toBe(true);
    await redis.server.restart();
    expect(await counted(limiter)).toBe(0);
  });
});

describe('the store’s own client', () => {
  test('replaces a silent connection', async () => {
    const proxy = await redis.proxy();
    const store = redis.open(redisStore({ url: proxy.url }));
    const limiter = redis.limiter(store, '50ms');
    await eventually(() => limiter.peek('k'));
    const connections = proxy.connections;
    proxy.blackhole();
    await rejection(limiter.consume('k'));
    // The proxy also swallows the connections after the call's connection.
    await eventually(async () => expect(proxy.connections).toBeGreaterThan(connections));
    proxy.disconnectAll();
    proxy.pass();
    await eventually(() => limiter.peek('k'));
    expect(await counted(limiter)).toBeLessThanOrEqual(1);
  });

  test('waits for an answer until the longest deadline of its limiters', async () => {
    const proxy = await redis.proxy();
    const store = redis.open(redisStore(proxy.url));
    const [hasty, patient] = [redis.limiter(store), redis.limiter(store, '20s')];
    await eventually(() => hasty.peek('k'));
    await patient.peek('k');
    proxy.delay(1_200);
    expect(await patient.consume('k')).toMatchObject({ allowed: true });
    expect(proxy.connections).toBe(1);
  });

  test('reconnects after it has ended, until the store is closed', async () => {
    const store = redisStore({ url: redis.server.url, options: { retryStrategy: () => null } });
    const limiter = redis.limiter(store);
    await eventually(() => limiter.consume('k'));
    await redis.server.kill();
    expect(isStoreUnavailableError(await rejection(limiter.consume('k')))).toBe(true);
    await redis.server.restart();
    await eventually(() => limiter.consume('k'));
    await store.close();
    const connected = async () => String(await redis.client().client('LIST')).includes('name=sluice');
    await eventually(async () => expect(await connected()).toBe(false));
  });

  test('logs in with the username and password of the options, not of the address', async () => {
    await redis.client().call('ACL', 'SETUSER', 'ann', 'on', '>p@ss:w%41rd', '~*', '&*', '+@all');
    const url = redis.server.url.replace('redis://', 'redis://bob:wrong@');
    const limiter = redis.limiter(redisStore({ url, username: 'ann', password: 'p@ss:w%41rd' }), '5s');
    expect(await limiter.consume('k')).toMatchObject({ allowed: true });
    const inDatabase2 = redis.limiter(redisStore({ url: redis.server.url, options: { db: 2 } }), '5s');
    await inDatabase2.consume('k');
    expect(await redis.client(`${redis.server.url}/2`).dbsize()).toBe(1);
  });
});

describe('a server that evicts', () => {
  const evicting = async (policy: string) => {
    const admin = redis.client();
    await admin.config('SET', 'maxmemory', '64mb');
    await admin.config('SET', 'maxmemory-policy', policy);
  };
  /** Decides twice: the second reply arrives after the replies to all commands that the first call sent. */
  const decidedTwice = async (store: ReturnType<typeof redisStore>) => {
    const limiter = redis.limiter(store, '5s');
    await limiter.consume('k');
    await limiter.consume('k');
  };
  const warnings = () =>
    warned.mock.calls
      .filter(([, { code }]) => code === 'SLUICE_EVICTION')
      .map(([message]) => String(message));

  test.each([
    ['the store’s own client', () => redisStore(redis.server.url)],
    ['node-redis', () => redisStore(nodeRedis())],
  ])('causes one warning that names its policy: %s', async (_, open) => {
    await evicting('volatile-ttl');
    for (const store of [open(), open()]) await decidedTwice(store);
    await eventually(async () => expect(warnings()).toHaveLength(1));
    expect(warnings()[0]).toMatch(/maxmemory-policy volatile-ttl.*noeviction/);
  });

  test('causes no warning without a memory limit, or with noeviction', async () => {
    await redis.client().config('SET', 'maxmemory-policy', 'allkeys-lru');
    await decidedTwice(redisStore(redis.server.url));
    await evicting('noeviction');
    await decidedTwice(redisStore(redis.server.url));
    expect(warnings()).toEqual([]);
  });

  test('causes no warning if INFO is forbidden, and still decides', async () => {
    await evicting('allkeys-lru');
    await redis.client().call('ACL', 'SETUSER', 'guest', 'on', '>secret', '~*', '&*', '+@all', '-info');
    const clientWarnings = jest.spyOn(console, 'warn').mockReturnValue();
    await decidedTwice(redisStore({ url: redis.server.url, username: 'guest', password: 'secret' }));
    expect(clientWarnings.mock.calls).toEqual([
      [expect.stringMatching(/^Skipping the ready check .*NOPERM/)],
    ]);
    clientWarnings.mockRestore();
    const { evalsha, eval: run } = redis.client();
    const bare = { evalsha: evalsha.bind(redis.client()), eval: run.bind(redis.client()) };
    await decidedTwice(redisStore(bare as never));
    expect(warnings()).toEqual([]);
  });
});

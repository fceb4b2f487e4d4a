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
  // Once for each code and subject in a process: here each test is to be the first.
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
  test('with ioredis’s defaults a call whose reply is lost counts twice, of which there is a warning', async () => {
    const proxy = await redis.proxy();
    const limiter = redis.limiter(redisStore(redis.client(proxy.url)), '5s');
    expect(codes()).toEqual(['SLUICE_CLIENT_RESENDS']);
    await limiter.consume('warm-up');
    proxy.resetNextReply();
    await limiter.consume('k');
    expect(proxy.lostReplies).toBe(1);
    expect(await counted(limiter)).toBe(2);
  });

  test('with the recommended settings it counts once, without a warning', async () => {
    const proxy = await redis.proxy();
    const limiter = redis.limiter(redisStore(redis.client(proxy.url, recommendedRedisOptions)), '5s');
    await eventually(() => limiter.consume('warm-up'));
    proxy.resetNextReply();
    expect(isStoreUnavailableError(await rejection(limiter.consume('k')))).toBe(true);
    expect(await counted(limiter)).toBe(1);
    expect(codes()).toEqual([]);
  });
});

describe('a server that evicts', () => {
  const evicting = async (policy: string) => {
    const admin = redis.client();
    await admin.config('SET', 'maxmemory', '64mb');
    await admin.config('SET', 'maxmemory-policy', policy);
  };
  /** A second answer on the same connection comes after what was asked along with the first call. */
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
  ])('is warned of once, by its policy: %s', async (_, open) => {
    await evicting('volatile-ttl');
    for (const store of [open(), open()]) await decidedTwice(store);
    await eventually(async () => expect(warnings()).toHaveLength(1));
    expect(warnings()[0]).toMatch(/maxmemory-policy volatile-ttl.*noeviction/);
  });

  test('is not, where memory has no bound or nothing is evicted', async () => {
    await redis.client().config('SET', 'maxmemory-policy', 'allkeys-lru');
    await decidedTwice(redisStore(redis.server.url));
    await evicting('noeviction');
    await decidedTwice(redisStore(redis.server.url));
    expect(warnings()).toEqual([]);
  });

  test('is not, where it does not let itself be asked; decisions go on', async () => {
    await evicting('allkeys-lru');
    await redis.client().call('ACL', 'SETUSER', 'guest', 'on', '>secret', '~*', '&*', '+@all', '-info');
    await decidedTwice(redisStore({ url: redis.server.url, username: 'guest', password: 'secret' }));
    const { evalsha, eval: run } = redis.client();
    const bare = { evalsha: evalsha.bind(redis.client()), eval: run.bind(redis.client()) };
    await decidedTwice(redisStore(bare as never));
    expect(warnings()).toEqual([]);
  });
});

import { inspect } from 'node:util';
import {
  concurrency,
  isStoreConfigurationError,
  isStoreUnavailableError,
  RateLimiter,
  type RedisClient,
  redisStore,
} from '../../packages/core/src/index.js';
import { rethrow } from '../support/rethrow.js';
import { LIMIT, OwnRedis, rejection } from './own-redis.js';

describe('a server that does not decide', () => {
  const redis = new OwnRedis();
  const limiterAt = (url: string) => redis.limiter(redisStore(url), '5s');

  test('SCRIPT FLUSH has no effect on callers', async () => {
    const limiter = limiterAt(redis.server.url);
    const admin = redis.client();
    for (let call = 1; call <= 5; call += 1) {
      await admin.script('FLUSH');
      expect(await limiter.consume('k')).toMatchObject({ allowed: true, remaining: LIMIT - call });
    }
  });

  test('a wrong password is an outage with the reason WRONGPASS, also at a valkey:// address', async () => {
    const admin = redis.client();
    await admin.config('SET', 'requirepass', 'right');
    const at = (start: string) => redis.server.url.replace('redis://', start);
    const wrong = await rejection(limiterAt(at('redis://:wrong@')).consume('k'));
    expect(isStoreUnavailableError(wrong) && wrong.message).toMatch(/WRONGPASS/);
    expect(await limiterAt(at('valkey://:right@')).consume('k')).toMatchObject({ allowed: true });
  });

  test('the event of a wrong password does not contain it', async () => {
    await redis.client().config('SET', 'requirepass', 'right');
    const store = redisStore(redis.server.url.replace('redis://', 'redis://:mistaken@'));
    const event = new Promise((resolve) => {
      store.on('storeError', resolve);
    });
    await rejection(redis.limiter(store, '5s').consume('k'));
    expect(await event).toMatchObject({ reason: 'WRONGPASS', connectionError: { name: 'ReplyError' } });
    const logged = JSON.stringify(await event) + inspect(await event, { depth: null, showHidden: true });
    expect(logged).toMatch(/WRONGPASS/);
    expect(logged).not.toMatch(/mistaken/);
  });

  test('a foreign value under our key rejects with a configuration error that names the key', async () => {
    const limiter = limiterAt(redis.server.url);
    const admin = redis.client();
    const key = `sluice:v2:fw:${limiter.name}:{k}`;
    await admin.lpush(key, 'theirs');
    const wrongType = await rejection(limiter.consume('k'));
    expect(isStoreConfigurationError(wrongType) && wrongType.message).toMatch(/WRONGTYPE/);
    await admin.set(key, 'theirs');
    const foreign = await rejection(limiter.consume('k'));
    expect(isStoreConfigurationError(foreign) && foreign.message).toMatch(/holds a foreign value/);
    expect(String((foreign as Error).cause)).toMatch(/foreign value in sluice:v2:fw:/);
    expect(await admin.get(key)).toBe('theirs');
  });

  test('a missing right lets the failure policy decide', async () => {
    await redis.client().call('ACL', 'SETUSER', 'guest', 'on', '>secret', '~other:*', '+@all');
    const guest = limiterAt(`redis://guest:secret@127.0.0.1:${redis.server.port}`);
    const denied = await rejection(guest.consume('k'));
    expect(isStoreUnavailableError(denied) && denied.message).toMatch(/NOPERM|No permission|can't access/i);
  });

  test('without the right to subscribe the failure policy decides a waiting call, which leaves the queue', async () => {
    await redis.client().call('ACL', 'SETUSER', 'guest', 'on', '>secret', '~*', '+@all', 'resetchannels');
    const policy = concurrency({ limit: 1 });
    const limiter = (url: string) =>
      redis.open(
        new RateLimiter({
          ...{ name: 'slots', policy, deadline: '5s', failurePolicy: rethrow },
          store: redis.open(redisStore(url)),
        }),
      );
    const guest = limiter(`redis://guest:secret@127.0.0.1:${redis.server.port}`);
    const right = limiter(redis.server.url);
    const held = await right.acquire('k');
    const denied = await rejection(guest.acquire('k'));
    expect(isStoreUnavailableError(denied) && denied.message).toMatch(/NOPERM|No permission|can't access/i);
    await right.release(held);
    expect(await right.peek('k')).toMatchObject({ remaining: 1 });
  });

  test('with a client that cannot open another connection a waiting call rejects', async () => {
    const client = redis.client();
    const bare = {
      evalsha: client.evalsha.bind(client),
      eval: client.eval.bind(client),
    } as unknown as RedisClient;
    const store = redis.open(redisStore(bare));
    const limiter = redis.open(
      new RateLimiter({ name: 'slots', policy: concurrency({ limit: 1 }), store, deadline: '5s' }),
    );
    await limiter.acquire('k');
    const error = await rejection(limiter.acquire('k'));
    expect(isStoreConfigurationError(error) && error.message).toMatch(/cannot duplicate\(\) itself/);
    expect(await limiter.consume('other')).toMatchObject({ allowed: true });
  });

  test('a server that cannot write now is unavailable, not misconfigured', async () => {
    await redis.client().config('SET', 'maxmemory', '1');
    const error = await rejection(limiterAt(redis.server.url).consume('k'));
    expect(isStoreUnavailableError(error) && error.message).toMatch(/OOM/);
  });

  test('every key has a TTL that ends with its state', async () => {
    const limiter = limiterAt(redis.server.url);
    const admin = redis.client();
    const { resetAfter } = await limiter.consume('k');
    expect(resetAfter).toBe(3_600_000);
    expect(await admin.keys('*')).toEqual([`sluice:v2:fw:${limiter.name}:{k}`]);
    const ttl = await admin.pttl(`sluice:v2:fw:${limiter.name}:{k}`);
    expect(ttl).toBeGreaterThan(resetAfter - 600_000);
    expect(ttl).toBeLessThanOrEqual(resetAfter + 2);
  });
});

test.each([[''], ['http://127.0.0.1'], ['localhost:6379'], [undefined], [null], [{}], [6379]])(
  'refuses %p as a client',
  (client) => {
    expect(() => redisStore(client as never)).toThrow(/redisStore takes an/);
  },
);

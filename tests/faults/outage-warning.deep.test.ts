import { connectAtStart } from '../../packages/core/src/health/store-health.js';
import {
  fixedWindow,
  RateLimiter,
  type RedisStore,
  recommendedRedisOptions,
  redisStore,
} from '../../packages/core/src/index.js';
import { uniqueName } from '../support/redis-url.js';
import { fromRedis } from './callers.js';
import { eventually, OwnRedis } from './own-redis.js';

const redis = new OwnRedis();
const policy = fixedWindow({ limit: 1_000, window: '1h' });

let emitted: jest.SpyInstance;
beforeEach(() => {
  emitted = jest.spyOn(process, 'emitWarning').mockReturnValue();
});
afterEach(() => emitted.mockRestore());
const warnings = (): string[] =>
  emitted.mock.calls
    .filter(([, { code }]) => code === 'SLUICE_STORE_OUT')
    .map(([message, { type }]) => `${type}: ${message}`);

/** A stalled Redis is no outage here: the deadline is long, and each test ends connections or refuses them. */
const limiterOf = (store: RedisStore, failurePolicy?: 'allow') =>
  new RateLimiter({ name: uniqueName('warned'), policy, store, failurePolicy, deadline: '5s' });

test('an address without a server causes one warning at the first call and one at recovery', async () => {
  await redis.server.kill();
  const at = `127.0.0.1:${redis.server.port}`;
  const store = redis.open(redisStore(`redis://ann:secret@${at}/2`));
  const limiters = [limiterOf(store), limiterOf(store, 'allow'), limiterOf(store)];
  for (let call = 0; call < 10; call += 1)
    for (const limiter of limiters) expect(await limiter.consume('k')).toMatchObject({ degraded: true });
  expect(warnings()).toEqual([
    expect.stringMatching(
      `^SluiceWarning: redisStore: redis://${at}/2 is out: .*ECONNREFUSED.*failurePolicy \\('local' unless set: each process counts by itself\\)`,
    ),
  ]);
  expect(warnings()[0]).not.toMatch(/ann|secret/);
  await redis
    .client(redis.server.url)
    .quit()
    .catch(() => undefined);
  await redis.server.restart();
  await redis.client().call('ACL', 'SETUSER', 'ann', 'on', '>secret', '~*', '&*', '+@all');
  await eventually(async () => {
    await fromRedis(() => limiters[0]!.consume('k'));
    // Before the user ann exists, the server may refuse the login, which causes another warning.
    expect(warnings().at(-1)).toMatch(`redisStore: redis://${at}/2 answers again, after `);
  });
});

test('each outage causes one warning for all stores with one address', async () => {
  const stores = [1, 2, 3].map(() => redis.open(redisStore(redis.server.url)));
  const limiters = stores.map((store) => limiterOf(store));
  for (let outage = 1; outage <= 2; outage += 1) {
    for (const limiter of limiters) await fromRedis(() => limiter.consume('k'));
    await eventually(async () => expect(warnings()).toHaveLength(2 * (outage - 1)));
    await redis.server.kill();
    for (let call = 0; call < 10; call += 1) for (const limiter of limiters) await limiter.consume('k');
    expect(warnings()).toHaveLength(2 * outage - 1);
    await redis.server.restart();
  }
});

test('closing a connecting store is no outage, and the next outage still causes a warning', async () => {
  const closed = redis.open(redisStore(redis.server.url));
  const call = limiterOf(closed).consume('k');
  await closed.loading;
  await new Promise(setImmediate);
  await closed.close();
  await call;
  expect(warnings()).toEqual([]);
  const limiter = limiterOf(redis.open(redisStore(redis.server.url)));
  await fromRedis(() => limiter.consume('k'));
  await redis.server.kill();
  for (let failed = 0; failed < 5; failed += 1) await limiter.consume('k');
  expect(warnings()).toEqual([expect.stringContaining(' is out: ')]);
});

test('a listener for degraded replaces the warning', async () => {
  await redis.server.kill();
  const store = redis.open(redisStore(redis.server.url));
  const degraded = new Promise((resolve) => store.on('degraded', resolve));
  const limiter = limiterOf(store);
  for (let call = 0; call < 10; call += 1) await limiter.consume('k');
  await degraded;
  expect(warnings()).toEqual([]);
});

test('the warning names the address of a client of yours', async () => {
  await redis.server.kill();
  const client = redis.client(redis.server.url, recommendedRedisOptions);
  const limiter = limiterOf(redis.open(redisStore(client)));
  for (let call = 0; call < 5; call += 1) await limiter.consume('k');
  expect(warnings()).toEqual([
    expect.stringContaining(`redisStore: 127.0.0.1:${redis.server.port} is out: `),
  ]);
});

describe('a server that starts', () => {
  test('starts without its Redis, with a warning', async () => {
    await redis.server.kill();
    const store = redis.open(redisStore(redis.server.url));
    await Promise.all([connectAtStart(store), connectAtStart(store), connectAtStart(undefined)]);
    await limiterOf(store).consume('k');
    expect(warnings()).toEqual([expect.stringMatching(/is out: .*ECONNREFUSED/)]);
  });

  test('starts with a wrong password, with one warning that says so; the failure policy decides', async () => {
    await redis.client().config('SET', 'requirepass', 'right');
    const store = redis.open(redisStore(redis.server.url.replace('redis://', 'redis://:wrong@')));
    await connectAtStart(store);
    const limiter = limiterOf(store, 'allow');
    for (let call = 0; call < 10; call += 1)
      expect(await limiter.consume('k')).toMatchObject({ source: 'allow' });
    expect(warnings()).toEqual([
      expect.stringMatching(/is out: the server refuses the login: give .*WRONGPASS.*uses its failurePolicy/),
    ]);
  });

  test('starts in a database that does not exist, with another warning; each call rejects', async () => {
    const store = redis.open(redisStore(`${redis.server.url}/99`));
    await connectAtStart(store);
    expect(warnings()).toEqual([
      expect.stringMatching(/is not set up correctly: .*no such database.*Every call rejects/),
    ]);
    await expect(limiterOf(store, 'allow').consume('k')).rejects.toMatchObject({ reason: 'other' });
  });
});

test('a refused login after a lost connection causes its own warning, and one at recovery', async () => {
  const limiter = limiterOf(redis.open(redisStore(redis.server.url)), 'allow');
  await fromRedis(() => limiter.consume('k'));
  await redis.server.kill();
  for (let call = 0; call < 10; call += 1) await limiter.consume('k');
  await redis.server.restart();
  const admin = redis.client();
  await admin.config('SET', 'requirepass', 'another');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await eventually(async () => {
    await limiter.consume('k');
    expect(warnings().at(-1)).toMatch(/is out: the server refuses the login/);
  });
  await admin.config('SET', 'requirepass', '');
  await eventually(async () => {
    await limiter.consume('k');
    expect(warnings().at(-1)).toMatch(/answers again/);
  });
});

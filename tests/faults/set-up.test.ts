import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis as Redis5 } from 'ioredis-5';
import {
  type ConfigurationReason,
  type FailurePolicy,
  fixedWindow,
  isStoreConfigurationError,
  RateLimiter,
  type RedisClient,
  type RedisStore,
  redisStore,
  type StoreErrorEvent,
} from '../../packages/core/src/index.js';
import { storeOnDefaults } from '../support/expecting-warning.js';
import { uniqueName } from '../support/redis-url.js';
import { Callers, fromRedis } from './callers.js';
import { runOutage } from './outage.js';
import { eventually, LIMIT, OwnRedis, rejection } from './own-redis.js';
import { record } from './table.js';

/** Configuration errors, to which no failure policy applies: an operator must fix them. */
const redis = new OwnRedis();
const POLICIES: FailurePolicy[] = ['local', 'allow', 'deny', () => 'allow'];

interface Mistake {
  readonly reason: ConfigurationReason;
  readonly how: string;
  readonly store: RedisStore;
  readonly begin?: (limiters: readonly RateLimiter[]) => unknown;
  readonly end: (limiters: readonly RateLimiter[]) => unknown;
}

/** Every call rejects, whatever its failure policy; one event is emitted; once it is fixed, Redis decides. */
async function expectConfigurationError({ reason, how, store, begin, end }: Mistake): Promise<void> {
  const errors: StoreErrorEvent[] = [];
  let degraded = 0;
  store
    .on('storeError', (event) => errors.push(event))
    .on('degraded', () => {
      degraded += 1;
    });
  const limiters = POLICIES.map(
    (failurePolicy) =>
      new RateLimiter({
        name: uniqueName('set-up'),
        policy: fixedWindow({ limit: LIMIT, window: '1h' }),
        store,
        failurePolicy,
        deadline: '10s',
      }),
  );
  await begin?.(limiters);
  let longest = 0;
  for (let round = 0; round < 10; round += 1) {
    for (const limiter of limiters) {
      const start = performance.now();
      const error = await rejection(limiter.consume('k'));
      longest = Math.max(longest, performance.now() - start);
      expect(isStoreConfigurationError(error) ? error.reason : error).toBe(reason);
    }
    await sleep(0); // events are emitted between the calls
  }
  expect(errors.map((event) => event.reason)).toEqual([reason]);
  expect(degraded).toBe(0);

  await end(limiters);
  const ended = performance.now();
  let counted = 0;
  for (const limiter of limiters) {
    const { remaining } = await fromRedis(() => limiter.peek('k'));
    counted += LIMIT - remaining;
  }
  expect(counted).toBe(0);
  record({
    group: 'set-up',
    fault: `\`${reason}\`: ${how}`,
    seen: '`StoreConfigurationError`, under every policy',
    first: longest,
    counted: 'nothing',
    recovered: performance.now() - ended,
  });
}

test('a store that is back with another password stays out until the login works', async () => {
  const proxy = await redis.proxy();
  const admin = redis.client();
  const store = redis.open(redisStore(proxy.url));
  const limiter = new RateLimiter({
    name: uniqueName('set-up'),
    policy: fixedWindow({ limit: LIMIT, window: '1h' }),
    store,
    failurePolicy: 'allow',
  });
  const degraded = new Promise((resolve) => store.on('degraded', resolve));
  await fromRedis(() => limiter.consume('k'));
  proxy.blackhole();
  await Promise.all([degraded, ...Array.from({ length: 5 }, () => limiter.consume('k'))]);

  await admin.config('SET', 'requirepass', 'another');
  proxy.disconnectAll();
  proxy.pass();
  const refused = await eventually(async () => {
    const error = await rejection(limiter.reset('k'));
    if ((error as { reason?: unknown })?.reason !== 'NOAUTH') throw new Error('no NOAUTH yet');
    return error as Error;
  });
  expect(refused.message).toMatch(/the server refuses the login: give redisStore .* \(.*NOAUTH/);
  for (let call = 0; call < 10; call += 1)
    expect(await limiter.consume('k')).toMatchObject({ allowed: true, source: 'allow' });
  await admin.config('SET', 'requirepass', '');
  await fromRedis(() => limiter.consume('k'));
});

test('WRONGTYPE (a foreign value has our key) rejects every call, whatever its failure policy', async () => {
  const admin = redis.client();
  const keys = (limiters: readonly RateLimiter[]) => limiters.map(({ name }) => `sluice:v2:fw:${name}:{k}`);
  await expectConfigurationError({
    ...{ reason: 'WRONGTYPE', how: 'something else has our key' },
    store: redis.open(redisStore(redis.server.url)),
    begin: (limiters) => Promise.all(keys(limiters).map((key) => admin.lpush(key, 'theirs'))),
    end: (limiters) => admin.del(...keys(limiters)),
  });
});

test('NOPERM for some of our keys lets the failure policy decide calls of these keys', async () => {
  const admin = redis.client();
  await admin.call('ACL', 'SETUSER', 'guest', 'on', '>secret', '~*:granted:*', '+@all');
  const url = `redis://guest:secret@127.0.0.1:${redis.server.port}`;
  // Definitions would be refused as well, with a warning of their own.
  const store = redis.open(redisStore({ url, definitions: false }));
  const callers = new Callers(
    (limit) => ({ policy: fixedWindow({ limit, window: '1h' }), store, deadline: '10s' }),
    ['NOPERM'],
  );
  const granted = new RateLimiter({
    name: 'granted',
    policy: fixedWindow({ limit: 99, window: '1h' }),
    store,
    deadline: '10s', // a timeout would be another event
  });
  const warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
  const events: string[] = [];
  store.on('storeError', ({ reason }) => events.push(reason)).on('degraded', () => events.push('degraded'));
  let longest = 0;
  for (let turn = 0; turn < 40; turn += 1) {
    longest = Math.max(longest, await callers.ask(turn, 'k'));
    expect(await fromRedis(() => granted.consume('k'))).toMatchObject({ allowed: true });
  }
  await callers.refusesTheRest('k');
  expect(events).toEqual(['NOPERM']);
  expect(warned.mock.calls).toEqual([
    [
      expect.stringMatching(
        /refuses calls: the server refuses a right: give the user the rights that sluice doctor names \(/,
      ),
      expect.objectContaining({ code: 'SLUICE_STORE_OUT' }),
    ],
  ]);
  warned.mockRestore();

  await admin.call('ACL', 'SETUSER', 'guest', '~sluice:*');
  const ended = performance.now();
  expect(await callers.counted('k')).toBe(0);
  record({
    group: 'set-up',
    fault: '`NOPERM`: the user may not touch some of our keys',
    seen: '`NOPERM`: the failure policy, for these keys',
    first: longest,
    counted: 'nothing',
    recovered: performance.now() - ended,
  });
});

/** Each client gets a wrong password in its own way. */
const CLIENTS = [
  ['our own client', (url: string) => url],
  ['ioredis 6', (url: string) => redis.client(url)],
  [
    'ioredis 5',
    (url: string) => {
      const client = new Redis5(url, { disconnectTimeout: 0 } as object);
      client.on('error', () => undefined);
      redis.open({ close: () => client.disconnect() });
      return client as unknown as RedisClient;
    },
  ],
] as const;

describe.each(CLIENTS)('%s', (who, clientAt) => {
  const storeAt = (url: string) => redis.open(storeOnDefaults(clientAt(url)));
  const withPassword = (password: string) => redis.client().config('SET', 'requirepass', password);

  test('WRONGPASS (another password) lets the failure policy decide', async () => {
    await withPassword('right');
    const admin = redis.client(redis.server.url.replace('redis://', 'redis://:right@'));
    await runOutage({
      ...{
        group: 'set-up',
        fault: `\`WRONGPASS\`: the password is another (${who})`,
        reasons: ['WRONGPASS'],
      },
      store: storeAt(redis.server.url.replace('redis://', 'redis://:wrong@')),
      fromTheStart: true,
      begin: () => undefined,
      end: () => admin.config('SET', 'requirepass', 'wrong'),
    });
  });

  test('NOAUTH (no password given) lets the failure policy decide', async () => {
    await withPassword('right');
    const admin = redis.client(redis.server.url.replace('redis://', 'redis://:right@'));
    await runOutage({
      ...{
        group: 'set-up',
        fault: `\`NOAUTH\`: it wants a password, and is given none (${who})`,
        reasons: ['NOAUTH'],
      },
      store: storeAt(redis.server.url),
      fromTheStart: true,
      begin: () => undefined,
      end: () => admin.config('SET', 'requirepass', ''),
    });
  });
});

import {
  CombinedLimiter,
  fixedWindow,
  LimiterFactory,
  ManualClock,
  memoryStore,
  RateLimiter,
  redisStore,
  SharedLimiter,
  type Store,
} from '@sluice/core';
import { announce } from '@sluice/core/internal';
import { RequestLimit, type RequestView } from '@sluice/http';
import { eventually } from '../../../../tests/support/eventually.js';
import { deciding } from '../../../../tests/support/open-response.js';
import { startRedis } from '../../../../tests/support/redis/redis-server.js';
import { readDefinitions } from './read-definitions.js';

const policy = fixedWindow({ limit: 9, window: '1m' });
const named = (store: Store, name: string) => new RateLimiter({ name, policy, store, deadline: '10s' });

/** The definitions of the only process, when they have these names. */
const namesAre = (store: Store, ...names: string[]) =>
  eventually(async () => {
    const [only] = await readDefinitions(store);
    const limiters = only?.limiters ?? [];
    return limiters.map(({ name }) => name).join() === names.join() && limiters;
  });

test('another process can read the definitions of a limiter until it is closed', async () => {
  const server = await startRedis();
  const [store, reader] = [redisStore(server.url), redisStore(server.url)];
  const login = new RateLimiter({
    name: 'login',
    policies: { perMinute: policy, perDay: fixedWindow({ limit: 99, window: '1d' }) },
    hashTag: 'all',
    store,
    deadline: '10s',
  });
  const api = named(store, 'api');
  try {
    await login.consume('k');
    const [first] = await namesAre(reader, 'login', 'api');
    expect(first).toEqual({
      kind: 'limiter',
      name: 'login',
      keyPrefix: 'sluice',
      hashTag: 'all',
      policies: login.policies,
      several: true,
      prefixes: {
        perMinute: 'sluice:v2:fw:login|perMinute:{all}:',
        perDay: 'sluice:v2:fw:login|perDay:{all}:',
      },
      suffix: '',
    });
    const [process] = await readDefinitions(reader);
    expect(process).toMatchObject({ layout: 'v2', pid: globalThis.process.pid, omitted: 0 });
    expect(process!.version).toMatch(/^\d+\.\d+\.\d+/);
    await login.close();
    await namesAre(reader, 'api');
  } finally {
    await Promise.all([api.close(), store.close(), reader.close()]);
    await server.stop();
  }
});

test('a process that reads the definitions publishes its own first', async () => {
  const store = memoryStore();
  const api = named(store, 'api');
  const names = async () =>
    (await readDefinitions(store)).flatMap(({ limiters }) => limiters.map(({ name }) => name));
  expect(await names()).toEqual(['api']);
  await api.close();
  expect(await names()).toEqual([]);
  await store.close();
});

test('limiters created at run time share one definition; combinations and shared rates have their own', async () => {
  const store = memoryStore();
  const factory = new LimiterFactory({ store, keyPrefix: 'app' });
  for (let i = 0; i < 30; i += 1) await factory.get(`tenant-${i}`, () => policy).consume('k');
  const [ip, user] = [named(store, 'ip'), named(store, 'user')];
  const both = new CombinedLimiter({ perIp: ip, perUser: user }, { name: 'both' });
  const shared = new SharedLimiter({ name: 'upstream', store });
  const limiters = await namesAre(store, 'tenant-29', 'ip', 'user', 'both', 'upstream');
  expect(limiters.map(({ kind }) => kind)).toEqual(['factory', 'limiter', 'limiter', 'combined', 'shared']);
  expect(limiters[0]).toMatchObject({ keyPrefix: 'app', policies: { 'tenant-29': policy } });
  expect(limiters[3]).toMatchObject({ members: { perIp: 'ip', perUser: 'user' } });
  expect(limiters[4]).toMatchObject({ rate: 'sluice:v2:shared:{upstream}:rate' });
  for (const one of [factory, both, shared, ip, user]) await one.close();
  await namesAre(store);
  await store.close();
});

test('a limit whose policy is a function publishes its key', async () => {
  const store = memoryStore();
  const limits = new RequestLimit<[]>('rateLimit', {
    name: 'api',
    policy: () => policy,
    limitType: 'METHOD',
    store,
  });
  await deciding(limits)({} as RequestView);
  const [definition] = await namesAre(store, 'api');
  expect(definition).toMatchObject({ kind: 'per-request', key: 'METHOD' });
  await limits.close();
  await store.close();
});

test('at most 200 definitions are published, each limiter once', async () => {
  const store = memoryStore();
  for (let i = 0; i < 250; i += 1) named(store, `l${i}`);
  for (let i = 0; i < 50; i += 1) named(store, 'l0');
  const [process] = await eventually(async () => {
    const read = await readDefinitions(store);
    return read.length > 0 && read;
  });
  expect(process!.limiters).toHaveLength(200);
  expect(process!.omitted).toBe(50);
  await store.close();
});

test('`definitions: false` publishes nothing; an invalid value is rejected', async () => {
  const store = memoryStore({ definitions: false, clock: new ManualClock() });
  const another = memoryStore();
  for (const one of [store, another]) named(one, 'silent');
  await namesAre(another, 'silent');
  expect(await readDefinitions(store)).toEqual([]);
  for (const make of [
    () => memoryStore({ definitions: 1 as never }),
    () => redisStore({ url: 'redis://127.0.0.1', definitions: 'no' as never }),
  ])
    expect(make).toThrow(/definitions must be true or false/);
  await Promise.all([store.close(), another.close()]);
});

test('a foreign text on the board is omitted with a reason', async () => {
  const store = memoryStore();
  const read = async (text: string) => {
    await store.fleet.publish('definitions', text, 60_000);
    const reasons: string[] = [];
    const processes = await readDefinitions(store, ({ reason }) => reasons.push(reason));
    return [processes.map(({ limiters }) => limiters), reasons];
  };
  for (const text of ['', '{']) expect(await read(text)).toEqual([[], ['it is not JSON']]);
  for (const text of ['null', '[]']) expect(await read(text)).toEqual([[], ['its fields cannot be read']]);
  expect(await read('{"limiters":1}')).toEqual([[], ['its version cannot be read']]);
  const withoutAlgorithm = { kind: 'limiter', name: 'a', keyPrefix: '', policies: { a: null }, prefixes: {} };
  const process = { version: '1.0.0', layout: 'v2', host: 'h', pid: 1, omitted: 0 };
  const limiters = [null, { name: 1 }, { ...withoutAlgorithm, suffix: '' }];
  expect(await read(JSON.stringify({ ...process, limiters }))).toEqual([
    [[]],
    [
      'limiter 1 of its limiters: its fields cannot be read',
      'limiter 2 of its limiters: its kind cannot be read',
      'limiter 3 of its limiters: its policies cannot be read',
    ],
  ]);
  await store.close();
});

test('a definition of a meter with too many axes or kinds of scopes, or with wrong ones, is omitted with a reason', async () => {
  const store = memoryStore();
  const some = { axes: { usd: policy }, soft: [], scopes: { user: ['usd'] } };
  const many = <T>(count: number, value: T) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, value]));
  const read = async (meter: object) => {
    const one = {
      kind: 'meter',
      name: 'ai',
      keyPrefix: 'sluice',
      policies: {},
      several: false,
      prefixes: {},
      suffix: '',
      meter,
    };
    const process = { version: '1.0.0', layout: 'v2', host: 'h', pid: 1, omitted: 0, limiters: [one] };
    await store.fleet.publish('definitions', JSON.stringify(process), 60_000);
    const reasons: string[] = [];
    const [found] = await readDefinitions(store, ({ reason }) => reasons.push(reason));
    return [found!.limiters.map((limiter) => limiter.meter), reasons];
  };
  expect(await read(some)).toEqual([[some], []]);
  for (const [meter, field] of [
    [{ ...some, axes: many(21, policy) }, 'axes'],
    [{ ...some, axes: { usd: 5 } }, 'axes'],
    [{ ...some, scopes: many(11, []) }, 'scopes'],
    [{ ...some, scopes: { 'a b': [] } }, 'scopes'],
    [{ ...some, overrides: { ann: { usd: { limit: {} } } } }, 'overrides'],
  ] as const)
    expect(await read(meter)).toEqual([[], [`limiter 1 of its limiters: its ${field} cannot be read`]]);
  await store.close();
});

test('definitions beyond the maximum length of a text are counted as omitted', async () => {
  const store = memoryStore();
  const names = Array.from({ length: 20 }, (_, i) => `${i}`.padEnd(100, 'p'));
  const policies = Object.fromEntries(names.map((name) => [name, policy]));
  const plans = Object.fromEntries(names.map((name) => [name, { policies }]));
  for (let i = 0; i < 30; i += 1)
    announce(store.fleet, 'v2', `l${i}`, () => ({
      ...{ kind: 'limiter', name: `l${i}`, keyPrefix: 'sluice', several: true, suffix: '' },
      ...{ policies, prefixes: Object.fromEntries(names.map((name) => [name, name])), plans },
    }));
  const [process] = await eventually(async () => {
    const read = await readDefinitions(store);
    return read.length > 0 && read;
  });
  expect(process!.limiters.length).toBeGreaterThan(5);
  expect(process!.limiters.length + process!.omitted).toBe(30);
  await store.close();
});

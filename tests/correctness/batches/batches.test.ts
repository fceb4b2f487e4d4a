import { setImmediate as turn } from 'node:timers/promises';
import { directCall, type PendingCall } from '../../../packages/core/src/call/pending-call.js';
import {
  type Answer,
  type Call,
  fixedWindow,
  type Policy,
  RateLimiter,
  type RateLimiterOptions,
  type RedisStore,
  slidingLog,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import { OwnRedis } from '../../faults/own-redis.js';
import { storeOnDefaults } from '../../support/expecting-warning.js';
import { uniqueName } from '../../support/redis-url.js';

const own = new OwnRedis();

function send(store: RedisStore, call: Call): PendingCall<Answer> {
  const pending = directCall(call);
  store.send(pending);
  return pending;
}

/** A store whose script calls are written down: the command, and how many keys each had. */
function watched({ isCluster = false } = {}) {
  const redis = own.client();
  const calls: [command: string, keys: readonly string[]][] = [];
  const client = {
    isCluster,
    evalsha: (sha1: string, count: number, ...rest: string[]) => {
      calls.push(['evalsha', rest.slice(0, count)]);
      return redis.evalsha(sha1, count, ...rest);
    },
    eval: (source: string, count: number, ...rest: string[]) => {
      calls.push(['eval', rest.slice(0, count)]);
      return redis.eval(source, count, ...rest);
    },
  };
  const store = own.open(storeOnDefaults(client));
  const limiter = (policy: Policy, options: Partial<RateLimiterOptions> = {}) =>
    new RateLimiter({
      name: uniqueName('batch'),
      policy,
      store,
      deadline: '10s',
      denyCache: false,
      ...options,
    } as RateLimiterOptions);
  /** Once the server knows the script. */
  const ready = async () => {
    await limiter(five).consume('first');
    calls.length = 0;
  };
  return { redis, calls, store, limiter, ready };
}

const five = fixedWindow({ limit: 5, window: '1h' });
const bucket = tokenBucket({ capacity: 100, refill: 1, every: '1h' });
const times = <T>(count: number, what: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => what(i));

test('calls of one turn are one script call, and each has the answer that it would have alone', async () => {
  const { calls, limiter, ready } = watched();
  await ready();
  const [few, many, log] = [limiter(five), limiter(bucket), limiter(slidingLog({ limit: 3, window: '1h' }))];
  const [fewTold, manyTold, logTold, acquired, peeked] = await Promise.all([
    Promise.all(times(8, () => few.consume('k'))),
    Promise.all(times(3, (i) => many.consume(`k${i}`, { cost: i + 1 }))),
    Promise.all(times(4, () => log.consume('k'))),
    many.acquire('k0', { cost: 9 }),
    many.peek('k0', { cost: 91 }),
  ]);
  expect(calls).toHaveLength(1);
  expect(calls[0]![1]).toHaveLength(5);
  expect(fewTold.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
    ...[4, 3, 2, 1, 0].map((left) => [true, left]),
    ...times(3, () => [false, 0]),
  ]);
  expect(manyTold.map(({ remaining }) => remaining)).toEqual([99, 98, 97]);
  expect(logTold.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
  expect(acquired.remaining).toBe(90);
  expect(peeked).toMatchObject({ allowed: false, remaining: 90 });
});

test('calls of an idle store leave as soon as the code that asks has run', async () => {
  const { calls, limiter, ready } = watched();
  await ready();
  const many = limiter(bucket);
  const asked = times(2, (i) => many.consume(`k${i}`));
  expect(calls).toHaveLength(0);
  await Promise.resolve();
  expect(calls.map(([, keys]) => keys.length)).toEqual([2]);
  await Promise.all(asked);
});

test('of many calls in turn after turn half leave before the rest has come', async () => {
  const { calls, limiter, ready } = watched();
  await ready();
  const many = limiter(tokenBucket({ capacity: 10_000, refill: 1, every: '1h' }));
  await Promise.all(times(200, () => many.consume('k')));
  calls.length = 0;
  const asked = times(200, () => many.consume('k'));
  expect(calls).toHaveLength(1);
  const told = await Promise.all(asked);
  expect(calls).toHaveLength(2);
  expect(told.map(({ remaining }) => remaining)).toEqual(times(200, (i) => 10_000 - 201 - i));
});

test('calls of one key keep their order, also around those that have it together with another', async () => {
  const { calls, limiter, ready } = watched();
  await ready();
  const policies = { one: five, two: bucket };
  const both = limiter(five, { policy: undefined, policies } as never);
  const told = await Promise.all([
    both.consume('k', { cost: { one: 5, two: 1 } }),
    both.consume('k'),
    both.reset('k').then(() => undefined),
    both.consume('k'),
  ]);
  expect(calls).toHaveLength(1);
  expect(told.map((each) => each && [each.allowed, each.policies.map(({ remaining }) => remaining)])).toEqual(
    [[true, [0, 99]], [false, [0, 99]], undefined, [true, [4, 99]]],
  );
});

test('many keys are several script calls of one turn, none of them long', async () => {
  const { calls, limiter, ready } = watched();
  await ready();
  const one = limiter(five);
  const decisions = times(500, (i) => one.consume(i));
  await turn();
  expect(calls.length).toBeGreaterThan(5);
  for (const [, keys] of calls) expect(keys.length).toBeLessThanOrEqual(82);
  expect(calls.flatMap(([, keys]) => keys)).toHaveLength(500);
  expect(await Promise.all(decisions)).toEqual(times(500, () => expect.objectContaining({ remaining: 4 })));
});

test('a script call may have more keys than one command reads', async () => {
  const { calls, store, limiter, ready } = watched();
  await ready();
  const { limits } = RateLimiter.internals(limiter(five));
  const asked = times(250, (i) => limits.parts(i, 1)).map((parts) => {
    return { operation: 'consume', wait: 0, parts } as const;
  });
  for (const remaining of [4, 3]) {
    const told = await store.decideAll(asked);
    expect(told.map(({ parts }) => parts[0]!.remaining)).toEqual(times(250, () => remaining));
  }
  expect(calls.map(([, keys]) => keys.length)).toEqual([250, 250]);
});

test('who was given up before the batch left is left out, and where nobody is left nothing leaves', async () => {
  const { calls, store, limiter, ready } = watched();
  await ready();
  const { limits } = RateLimiter.internals(limiter(five));
  const parts = limits.parts('k', 1);
  const call = { operation: 'consume', wait: 0, parts } as const;
  const given = send(store, call);
  const kept = store.decide(call);
  given.failed(new Error('given up'));
  await expect(given.promise).rejects.toThrow('given up');
  expect((await kept).parts[0]!.remaining).toBe(4);
  calls.length = 0;
  const alone = send(store, call);
  alone.failed(new Error('given up'));
  await expect(alone.promise).rejects.toThrow('given up');
  await turn();
  expect(calls).toEqual([]);
  expect((await store.decide({ ...call, operation: 'peek' })).parts[0]!.remaining).toBe(4);
});

test('two calls of a key count twice when who stood between them was given up', async () => {
  const { store, limiter, ready } = watched();
  await ready();
  const { limits } = RateLimiter.internals(limiter(five));
  const ask = (...keys: string[]) => {
    const parts = keys.flatMap((key) => limits.parts(key, 1));
    return send(store, { operation: 'consume', wait: 0, parts });
  };
  await ask('k').promise;
  const [before, between, after] = [ask('k'), ask('k', 'other'), ask('k')];
  between.failed(new Error('given up'));
  await expect(between.promise).rejects.toThrow('given up');
  expect((await before.promise).parts[0]!.remaining).toBe(3);
  expect((await after.promise).parts[0]!.remaining).toBe(2);
});

test('a bucket with bytes too many fails alone', async () => {
  const { redis, calls, limiter, ready } = watched();
  await ready();
  const many = limiter(bucket);
  await many.consume('long');
  await redis.append(`sluice:v2:tb:${many.name}:{long}`, 'xyz');
  calls.length = 0;
  const told = await Promise.allSettled(['a', 'long', 'b'].map((key) => many.consume(key)));
  expect(calls).toHaveLength(1);
  expect(told).toMatchObject([
    { value: { remaining: 99 } },
    { reason: { code: 'SLUICE_STORE_CONFIGURATION', reason: 'other' } },
    { value: { remaining: 99 } },
  ]);
});

test('a key that holds something else fails alone', async () => {
  const { redis, calls, limiter, ready } = watched();
  await ready();
  const one = limiter(five);
  await Promise.all([one.consume('list'), one.consume('text')]);
  const [list, text] = [`sluice:v2:fw:${one.name}:{list}`, `sluice:v2:fw:${one.name}:{text}`];
  expect(await redis.exists(list, text)).toBe(2);
  await redis.del(list);
  await redis.lpush(list, 'x');
  await redis.set(text, 'hello');
  calls.length = 0;
  const told = await Promise.allSettled(
    ['a', 'list', 'b', 'list', 'text', 'a'].map((key) => one.consume(key)),
  );
  expect(calls).toHaveLength(1);
  expect(told).toMatchObject([
    { value: { remaining: 4 } },
    { reason: { code: 'SLUICE_STORE_CONFIGURATION', reason: 'WRONGTYPE' } },
    { value: { remaining: 4 } },
    { reason: { code: 'SLUICE_STORE_CONFIGURATION', reason: 'WRONGTYPE' } },
    { reason: { code: 'SLUICE_STORE_CONFIGURATION', reason: 'other' } },
    { value: { remaining: 3 } },
  ]);
});

test('when Redis is out of memory, calls that write fail and denied calls get their denial', async () => {
  const { redis, calls, limiter, ready } = watched();
  await ready();
  const one = limiter(five, {
    failurePolicy: ({ error }) => {
      throw error;
    },
  });
  await one.consume('full', { cost: 5 });
  await redis.config('SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1');
  calls.length = 0;
  const told = await Promise.allSettled(['full', 'new', 'full'].map((key) => one.consume(key)));
  await redis.config('SET', 'maxmemory', '0');
  expect(calls).toHaveLength(1);
  expect(told).toMatchObject([
    { value: { allowed: false } },
    { reason: { code: 'SLUICE_STORE_UNAVAILABLE', reason: 'OOM' } },
    { value: { allowed: false } },
  ]);
  expect(await one.peek('new')).toMatchObject({ remaining: 5 });
});

test('a connection that is lost answers everybody, and nobody was counted twice', async () => {
  const { redis, calls, limiter, ready } = watched();
  await ready();
  const one = limiter(bucket, {
    failurePolicy: ({ error }) => {
      throw error;
    },
  });
  await own.client().call('CLIENT', 'PAUSE', '500', 'ALL');
  const told = Promise.allSettled(times(50, (i) => one.consume(`k${i % 10}`)));
  await turn();
  expect(calls.length).toBeGreaterThan(0);
  redis.disconnect();
  const reasons = (await told).map((each) => each.status === 'rejected' && each.reason.reason);
  expect(reasons).toEqual(times(50, () => 'connection'));
  const survivor = new RateLimiter({
    name: one.name,
    policy: bucket,
    deadline: '10s',
    store: own.open(storeOnDefaults(own.client())),
  });
  for (const key of times(10, (i) => `k${i}`)) {
    expect((await survivor.peek(key)).remaining).toBeGreaterThanOrEqual(95);
  }
});

test('a server that does not know the script gets it once for a batch', async () => {
  const { redis, calls, limiter, ready } = watched();
  await ready();
  await redis.script('FLUSH');
  const one = limiter(five);
  const told = await Promise.all(times(5, (i) => one.consume(i % 2)));
  expect(calls.map(([command]) => command)).toEqual(['evalsha', 'eval']);
  expect(told.map(({ remaining }) => remaining)).toEqual([4, 4, 3, 3, 2]);
});

test('in a cluster whose nodes are not known there is a batch for each hash tag', async () => {
  const { calls, limiter, ready } = watched({ isCluster: true });
  await ready();
  const [spread, together] = [limiter(five), limiter(five, { hashTag: 'all' })];
  await Promise.all([
    ...times(3, () => spread.consume('a')),
    spread.consume('b'),
    together.consume('a'),
    together.consume('b'),
  ]);
  expect(calls.map(([, keys]) => keys.length).sort()).toEqual([1, 1, 2]);
});

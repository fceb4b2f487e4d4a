import { setImmediate as turn } from 'node:timers/promises';
import { PendingCall, THE_ANSWER } from '../../../packages/core/src/call/pending-call.js';
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

function send(store: RedisStore, call: Call): { promise: Promise<Answer>; failed(error: Error): void } {
  const pending = PendingCall.of(call);
  const promise = pending.begin(THE_ANSWER);
  store.send(pending);
  return { promise, failed: (error) => pending.failed(error) };
}

/** A store that records its script calls for decisions: the command and the keys of each. */
function recordingStore({ isCluster = false } = {}) {
  const redis = own.client();
  const calls: [command: string, keys: readonly string[]][] = [];
  const record = (command: string, keys: readonly string[]) => {
    // The store publishes what it limits some time after its first decision.
    if (!keys.some((key) => key.includes(':fleet:'))) calls.push([command, keys]);
  };
  const client = {
    isCluster,
    evalsha: (sha1: string, count: number, ...rest: string[]) => {
      record('evalsha', rest.slice(0, count));
      return redis.evalsha(sha1, count, ...rest);
    },
    eval: (source: string, count: number, ...rest: string[]) => {
      record('eval', rest.slice(0, count));
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
  /** Loads the script into the server. */
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

test('one script call answers all calls of a turn as it would answer each alone', async () => {
  const { calls, limiter, ready } = recordingStore();
  await ready();
  const [few, many, log] = [limiter(five), limiter(bucket), limiter(slidingLog({ limit: 3, window: '1h' }))];
  const [fewDecisions, manyDecisions, logDecisions, acquired, peeked] = await Promise.all([
    Promise.all(times(8, () => few.consume('k'))),
    Promise.all(times(3, (i) => many.consume(`k${i}`, { cost: i + 1 }))),
    Promise.all(times(4, () => log.consume('k'))),
    many.acquire('k0', { cost: 9 }),
    many.peek('k0', { cost: 91 }),
  ]);
  expect(calls).toHaveLength(1);
  expect(calls[0]![1]).toHaveLength(5);
  expect(fewDecisions.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
    ...[4, 3, 2, 1, 0].map((left) => [true, left]),
    ...times(3, () => [false, 0]),
  ]);
  expect(manyDecisions.map(({ remaining }) => remaining)).toEqual([99, 98, 97]);
  expect(logDecisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
  expect(acquired.remaining).toBe(90);
  expect(peeked).toMatchObject({ allowed: false, remaining: 90 });
});

test('an idle store sends its calls in the next microtask', async () => {
  const { calls, limiter, ready } = recordingStore();
  await ready();
  const many = limiter(bucket);
  const pending = times(2, (i) => many.consume(`k${i}`));
  expect(calls).toHaveLength(0);
  await Promise.resolve();
  expect(calls.map(([, keys]) => keys.length)).toEqual([2]);
  await Promise.all(pending);
});

test('a turn with as many calls as the last one sends its first half early', async () => {
  const { calls, limiter, ready } = recordingStore();
  await ready();
  const many = limiter(tokenBucket({ capacity: 10_000, refill: 1, every: '1h' }));
  await Promise.all(times(200, () => many.consume('k')));
  calls.length = 0;
  const pending = times(200, () => many.consume('k'));
  expect(calls).toHaveLength(1);
  const decisions = await Promise.all(pending);
  expect(calls).toHaveLength(2);
  expect(decisions.map(({ remaining }) => remaining)).toEqual(times(200, (i) => 10_000 - 201 - i));
});

test('calls of a key keep their order, also among calls with several keys', async () => {
  const { calls, limiter, ready } = recordingStore();
  await ready();
  const policies = { one: five, two: bucket };
  const both = limiter(five, { policy: undefined, policies } as never);
  const decisions = await Promise.all([
    both.consume('k', { cost: { one: 5, two: 1 } }),
    both.consume('k'),
    both.reset('k').then(() => undefined),
    both.consume('k'),
  ]);
  expect(calls).toHaveLength(1);
  expect(
    decisions.map((each) => each && [each.allowed, each.policies.map(({ remaining }) => remaining)]),
  ).toEqual([[true, [0, 99]], [false, [0, 99]], undefined, [true, [4, 99]]]);
});

test('calls for 500 keys in one turn make several script calls of bounded length', async () => {
  const { calls, limiter, ready } = recordingStore();
  await ready();
  const one = limiter(five);
  const decisions = times(500, (i) => one.consume(i));
  await turn();
  expect(calls.length).toBeGreaterThan(5);
  for (const [, keys] of calls) expect(keys.length).toBeLessThanOrEqual(82);
  expect(calls.flatMap(([, keys]) => keys)).toHaveLength(500);
  expect(await Promise.all(decisions)).toEqual(times(500, () => expect.objectContaining({ remaining: 4 })));
});

test('one script call decides 250 keys, more than one MGET reads', async () => {
  const { calls, store, limiter, ready } = recordingStore();
  await ready();
  const { limits } = RateLimiter.internals(limiter(five));
  const keyCalls = times(250, (i) => limits.parts(i, 1)).map((parts) => {
    return { operation: 'consume', wait: 0, parts } as const;
  });
  for (const remaining of [4, 3]) {
    const decisions = await store.decideAll(keyCalls);
    expect(decisions.map(({ parts }) => parts[0]!.remaining)).toEqual(times(250, () => remaining));
  }
  expect(calls.map(([, keys]) => keys.length)).toEqual([250, 250]);
});

test('a batch leaves out abandoned calls, and an empty batch is not sent', async () => {
  const { calls, store, limiter, ready } = recordingStore();
  await ready();
  const { limits } = RateLimiter.internals(limiter(five));
  const parts = limits.parts('k', 1);
  const call = { operation: 'consume', wait: 0, parts } as const;
  const abandoned = send(store, call);
  const kept = store.decide(call);
  abandoned.failed(new Error('given up'));
  await expect(abandoned.promise).rejects.toThrow('given up');
  expect((await kept).parts[0]!.remaining).toBe(4);
  calls.length = 0;
  const alone = send(store, call);
  alone.failed(new Error('given up'));
  await expect(alone.promise).rejects.toThrow('given up');
  await turn();
  expect(calls).toEqual([]);
  expect((await store.decide({ ...call, operation: 'peek' })).parts[0]!.remaining).toBe(4);
});

test('two calls of a key both count when the call between them was abandoned', async () => {
  const { store, limiter, ready } = recordingStore();
  await ready();
  const { limits } = RateLimiter.internals(limiter(five));
  const consume = (...keys: string[]) => {
    const parts = keys.flatMap((key) => limits.parts(key, 1));
    return send(store, { operation: 'consume', wait: 0, parts });
  };
  await consume('k').promise;
  const [before, between, after] = [consume('k'), consume('k', 'other'), consume('k')];
  between.failed(new Error('given up'));
  await expect(between.promise).rejects.toThrow('given up');
  expect((await before.promise).parts[0]!.remaining).toBe(3);
  expect((await after.promise).parts[0]!.remaining).toBe(2);
});

test('a bucket with extra bytes fails only the calls of its key', async () => {
  const { redis, calls, limiter, ready } = recordingStore();
  await ready();
  const many = limiter(bucket);
  await many.consume('long');
  await redis.append(`sluice:v2:tb:${many.name}:{long}`, 'xyz');
  calls.length = 0;
  const decisions = await Promise.allSettled(['a', 'long', 'b'].map((key) => many.consume(key)));
  expect(calls).toHaveLength(1);
  expect(decisions).toMatchObject([
    { value: { remaining: 99 } },
    { reason: { code: 'SLUICE_STORE_CONFIGURATION', reason: 'other' } },
    { value: { remaining: 99 } },
  ]);
});

test('a key with a foreign value fails only its own calls', async () => {
  const { redis, calls, limiter, ready } = recordingStore();
  await ready();
  const one = limiter(five);
  await Promise.all([one.consume('list'), one.consume('text')]);
  const [list, text] = [`sluice:v2:fw:${one.name}:{list}`, `sluice:v2:fw:${one.name}:{text}`];
  expect(await redis.exists(list, text)).toBe(2);
  await redis.del(list);
  await redis.lpush(list, 'x');
  await redis.set(text, 'hello');
  calls.length = 0;
  const decisions = await Promise.allSettled(
    ['a', 'list', 'b', 'list', 'text', 'a'].map((key) => one.consume(key)),
  );
  expect(calls).toHaveLength(1);
  expect(decisions).toMatchObject([
    { value: { remaining: 4 } },
    { reason: { code: 'SLUICE_STORE_CONFIGURATION', reason: 'WRONGTYPE' } },
    { value: { remaining: 4 } },
    { reason: { code: 'SLUICE_STORE_CONFIGURATION', reason: 'WRONGTYPE' } },
    { reason: { code: 'SLUICE_STORE_CONFIGURATION', reason: 'other' } },
    { value: { remaining: 3 } },
  ]);
});

test('when Redis is out of memory, calls that write reject and denials still resolve', async () => {
  const { redis, calls, limiter, ready } = recordingStore();
  await ready();
  const one = limiter(five, {
    failurePolicy: ({ error }) => {
      throw error;
    },
  });
  await one.consume('full', { cost: 5 });
  await redis.config('SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1');
  calls.length = 0;
  const decisions = await Promise.allSettled(['full', 'new', 'full'].map((key) => one.consume(key)));
  await redis.config('SET', 'maxmemory', '0');
  expect(calls).toHaveLength(1);
  expect(decisions).toMatchObject([
    { value: { allowed: false } },
    { reason: { code: 'SLUICE_STORE_UNAVAILABLE', reason: 'OOM' } },
    { value: { allowed: false } },
  ]);
  expect(await one.peek('new')).toMatchObject({ remaining: 5 });
});

test('a lost connection rejects every call, and none counts twice', async () => {
  const { redis, calls, limiter, ready } = recordingStore();
  await ready();
  const one = limiter(bucket, {
    failurePolicy: ({ error }) => {
      throw error;
    },
  });
  await own.server.freeze();
  const decisions = Promise.allSettled(times(50, (i) => one.consume(`k${i % 10}`)));
  await turn();
  expect(calls.length).toBeGreaterThan(0);
  redis.disconnect();
  const reasons = (await decisions).map((each) => each.status === 'rejected' && each.reason.reason);
  await own.server.thaw();
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

test('the script is sent once per batch to a server that does not have it', async () => {
  const { redis, calls, limiter, ready } = recordingStore();
  await ready();
  await redis.script('FLUSH');
  const one = limiter(five);
  const decisions = await Promise.all(times(5, (i) => one.consume(i % 2)));
  expect(calls.map(([command]) => command)).toEqual(['evalsha', 'eval']);
  expect(decisions.map(({ remaining }) => remaining)).toEqual([4, 4, 3, 3, 2]);
});

test('a cluster with unknown nodes gets a batch for each hash tag', async () => {
  const { calls, limiter, ready } = recordingStore({ isCluster: true });
  await ready();
  const [spread, tagged] = [limiter(five), limiter(five, { hashTag: 'all' })];
  await Promise.all([
    ...times(3, () => spread.consume('a')),
    spread.consume('b'),
    tagged.consume('a'),
    tagged.consume('b'),
  ]);
  expect(calls.map(([, keys]) => keys.length).sort()).toEqual([1, 1, 2]);
});

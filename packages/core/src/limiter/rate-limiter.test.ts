import { inspect } from 'node:util';
import type { Policy } from '../algorithms/algorithm.js';
import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { leakyBucket } from '../algorithms/leaky-bucket/leaky-bucket.js';
import { slidingLog } from '../algorithms/sliding-log/sliding-log.js';
import { slidingWindow } from '../algorithms/sliding-window/sliding-window.js';
import { tokenBucket } from '../algorithms/token-bucket/token-bucket.js';
import { ManualClock } from '../clock.js';
import { isLimiterClosedError, isRateLimitExceededError, LimiterClosedError } from '../errors.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { redisStore } from '../stores/redis/redis-store.js';
import type { RateLimiterOptions } from './limiter-options.js';
import { RateLimiter } from './rate-limiter.js';

function limiterOf(options: Partial<RateLimiterOptions> = {}) {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const limiter = new RateLimiter({
    name: 'demo',
    policy: fixedWindow({ limit: 2, window: '10s' }),
    store,
    ...options,
  } as RateLimiterOptions);
  return { clock, store, limiter };
}

describe('consumeSync', () => {
  test('decides like consume without a promise, and throws the errors that consume rejects with', async () => {
    const { limiter } = limiterOf();
    expect(limiter.consumeSync('ann')).toMatchObject({ allowed: true, remaining: 1 });
    expect(await limiter.consume('ann')).toMatchObject({ allowed: true, remaining: 0 });
    expect(limiter.consumeSync('ann', { cost: 2 })).toMatchObject({ allowed: false, cost: 2 });
    expect(() => limiter.consumeSync('ann', { cost: -1 })).toThrow(RangeError);
    await limiter.close();
    expect(() => limiter.consumeSync('ann')).toThrow(LimiterClosedError);
  });

  test('throws for a remote store, which cannot decide at once', () => {
    const store = redisStore('redis://127.0.0.1:1');
    const { limiter } = limiterOf({ store });
    expect(() => limiter.consumeSync('ann')).toThrow(/limiter 'demo' counts in a redis store.*use consume/);
  });
});

describe('consume', () => {
  test('policies and moreAfter are getters: a spread omits them, JSON and console.log show them', async () => {
    const decision = await limiterOf().limiter.consume('ann');
    const { policies, moreAfter } = decision;
    const copy = { ...decision };
    expect(copy).toMatchObject({ allowed: true, remaining: 1 });
    expect([copy.policies, copy.moreAfter]).toEqual([undefined, undefined]);
    const whole = { ...decision, moreAfter, policies };
    expect(JSON.parse(JSON.stringify(decision))).toEqual(whole);
    expect(inspect(decision)).toBe(inspect(whole));
  });

  test('returns the whole decision, in milliseconds', async () => {
    const { clock, limiter } = limiterOf({ name: 'login' });
    const times = { retryAfter: 0, resetAfter: 10_000, moreAfter: 10_000 };
    const figures = { cost: 1, limit: 2, window: 10_000, remaining: 1, ...times };
    expect(JSON.parse(JSON.stringify(await limiter.consume('ann')))).toEqual({
      allowed: true,
      name: 'login',
      policy: 'login',
      ...figures,
      waited: 0,
      source: 'memory',
      degraded: false,
      policies: [{ name: 'login', ...figures }],
    });
    await limiter.consume('ann');
    await clock.advance('2.5s');
    expect(await limiter.consume('ann')).toMatchObject({
      allowed: false,
      remaining: 0,
      retryAfter: 7_500,
      resetAfter: 7_500,
    });
    expect(await limiter.consume('bob')).toMatchObject({ allowed: true, remaining: 1 });
  });

  test('retryAfter is the first whole millisecond at which a retry passes', async () => {
    const { clock, limiter } = limiterOf({ policy: tokenBucket({ capacity: 1, refill: 3, every: '1s' }) });
    await limiter.consume('k');
    const { retryAfter } = await limiter.consume('k');
    await clock.advance(retryAfter - 1);
    expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: 1 });
    await clock.advance(1);
    expect(await limiter.consume('k')).toMatchObject({ allowed: true });
  });

  test('a cost above the limit has an infinite retryAfter', async () => {
    const { limiter } = limiterOf();
    expect(await limiter.consume('k', { cost: 3 })).toMatchObject({
      allowed: false,
      retryAfter: Number.POSITIVE_INFINITY,
      remaining: 2,
    });
  });

  test('a cost of 0 takes nothing', async () => {
    const { limiter, store } = limiterOf();
    expect(await limiter.consume('k', { cost: 0 })).toMatchObject({ allowed: true, remaining: 2 });
    expect(store.size).toBe(0);
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '1', null, 2 ** 53])(
    'rejects a cost of %p',
    async (cost) => {
      const { limiter, store } = limiterOf();
      await expect(limiter.consume('k', { cost: cost as never })).rejects.toThrow(
        /^consume: cost must be a whole number from 0 to/,
      );
      expect(store.size).toBe(0);
    },
  );

  test.each([
    [undefined],
    [null],
    [['victim', '1000000']],
    [{}],
    [Number.NaN],
    [''],
    [Symbol('k')],
    [() => 1],
  ])('rejects %p as a key', async (key) => {
    const { limiter, store } = limiterOf();
    await expect(limiter.consume(key as never)).rejects.toMatchObject({ code: 'SLUICE_KEY_RESOLUTION' });
    expect(store.size).toBe(0);
  });

  test('different keys have separate counts, whatever their characters', async () => {
    const { limiter, store } = limiterOf({ policy: fixedWindow({ limit: 1, window: '1s' }) });
    const keys = [
      'a',
      'A',
      'a ',
      'a:b',
      'a%3Ab',
      '{a}',
      'a}b',
      '__proto__',
      'constructor',
      '\u0000',
      '\ud800',
      '\ufffd',
      'x'.repeat(200),
      'x'.repeat(201),
    ];
    for (const key of keys) expect(await limiter.consume(key)).toMatchObject({ allowed: true });
    for (const key of keys) expect(await limiter.consume(key)).toMatchObject({ allowed: false });
    expect(store.size).toBe(keys.length);
  });
});

test('peek takes nothing and returns the present remaining; reset returns all permits', async () => {
  const { limiter } = limiterOf();
  await limiter.consume('k');
  expect(await limiter.peek('k')).toMatchObject({ allowed: true, remaining: 1 });
  expect(await limiter.peek('k', { cost: 2 })).toMatchObject({
    allowed: false,
    remaining: 1,
    retryAfter: 10_000,
  });
  await limiter.reset('k');
  expect(await limiter.peek('k')).toMatchObject({ allowed: true, remaining: 2, resetAfter: 0 });
});

describe('acquire', () => {
  test('serves calls in their order, each at its moment', async () => {
    const { clock, limiter } = limiterOf({ policy: tokenBucket({ capacity: 1, refill: 1, every: '1s' }) });
    const start = clock.now();
    const served: [string, number][] = [];
    const calls = ['a', 'b', 'c'].map((who) =>
      limiter
        .acquire('k')
        .then(({ waited }) => served.push([who, waited], [who, (clock.now() - start) / 1000])),
    );
    await clock.advance('5s');
    await Promise.all(calls);
    expect(served).toEqual([
      ['a', 0],
      ['a', 0],
      ['b', 1000],
      ['b', 1000],
      ['c', 2000],
      ['c', 2000],
    ]);
  });

  /** The default margin, in ms: how much longer than `wait` the first waiting call waits. */
  async function marginOf(policy: Policy, wait: number, lateness: number): Promise<number> {
    const clock = Object.assign(new ManualClock(), { lateness: () => lateness });
    const limiter = new RateLimiter({ name: 'demo', policy, store: memoryStore({ clock }) });
    expect(await limiter.acquire('k')).toMatchObject({ waited: 0 });
    const waiting = limiter.acquire('k');
    await clock.advance('1h');
    return (await waiting).waited - wait;
  }

  test.each<[string, Policy, number, number, number]>([
    ['twice the lateness of sleeps in this process', slidingLog({ limit: 1, window: '1s' }), 1000, 3000, 6],
    ['at most 5 % of the window', slidingLog({ limit: 1, window: '100ms' }), 100, 9000, 5],
    ['at most 50 ms', fixedWindow({ limit: 1, window: '1m' }), 60_000, 900_000, 50],
    [
      '0 in a leaky bucket, whose queue would have room for fewer calls',
      leakyBucket({ capacity: 9, leak: 10, every: '1s' }),
      100,
      9000,
      0,
    ],
    ['0 if sleeps end in time', slidingWindow({ limit: 1, window: '1s', slots: 1 }), 2000, 0, 0],
  ])('the margin of a waiting call is %s', async (_, policy, wait, lateness, margin) => {
    // A window with slots returns a permit when its slot has left the window.
    expect(await marginOf(policy, wait, lateness)).toBe(margin);
  });

  test('rejects at once and books nothing if the wait would exceed the timeout', async () => {
    const { clock, limiter } = limiterOf({ policy: tokenBucket({ capacity: 1, refill: 1, every: '10s' }) });
    await limiter.acquire('k');
    const error = await limiter.acquire('k', { timeout: '9s' }).catch((caught: unknown) => caught);
    expect(isRateLimitExceededError(error) && error).toMatchObject({
      status: 429,
      retryAfter: 10_000,
      headers: { 'Retry-After': '10' },
      message: "Rate limit 'demo' exceeded: retry in 10 s",
    });
    const waiting = limiter.acquire('k', { timeout: '10s' });
    await clock.advance('10s');
    expect(await waiting).toMatchObject({ allowed: true, waited: 10_000 });
  });

  test('an abort rejects the wait with its reason and refunds the permit', async () => {
    const { clock, limiter } = limiterOf({ policy: tokenBucket({ capacity: 1, refill: 1, every: '10s' }) });
    await limiter.acquire('k');
    const abort = new AbortController();
    const waiting = limiter.acquire('k', { signal: abort.signal });
    const ended = expect(waiting).rejects.toThrow('no longer needed');
    await clock.advance('1s');
    abort.abort(new Error('no longer needed'));
    await ended;
    expect(await limiter.peek('k')).toMatchObject({ retryAfter: 9_000 });
    await expect(limiter.acquire('k', { signal: abort.signal })).rejects.toThrow('no longer needed');
    expect(await limiter.peek('k')).toMatchObject({ retryAfter: 9_000 });
  });

  test.each([-1, 'soon', Number.NaN])('rejects a timeout of %p', async (timeout) => {
    await expect(limiterOf().limiter.acquire('k', { timeout })).rejects.toThrow(
      /^acquire: timeout must be a duration/,
    );
  });
});

test('close ends waiting calls, refunds their permits, and rejects new calls', async () => {
  const { limiter, store, clock } = limiterOf({
    policy: tokenBucket({ capacity: 1, refill: 1, every: '10s' }),
  });
  await limiter.consume('k');
  const waiting = limiter.acquire('k').catch((error: unknown) => error);
  await clock.advance(1);
  await limiter.close();
  await limiter.close();
  expect(await waiting).toBeInstanceOf(LimiterClosedError);
  expect(isLimiterClosedError(await limiter.consume('k').catch((error: unknown) => error))).toBe(true);
  const other = new RateLimiter({
    name: 'demo',
    policy: tokenBucket({ capacity: 1, refill: 1, every: '10s' }),
    store,
  });
  expect(await other.peek('k')).toMatchObject({ retryAfter: 9_999 });
});

test.each([
  [{}, /policy must be made by one of fixedWindow\(\{ … \}\), slidingWindow/],
  [{ policy: { algorithm: 'guess' } }, /with algorithm "guess"/],
  [{ policy: { algorithm: 'fixedWindow', limit: -1, window: 1 } }, /limit must be a whole number/],
  [{ polcy: 1 }, /no option 'polcy'; did you mean 'policy'\?/],
  [{ name: 'a{b}' }, /name must be 1 to 100 letters/],
  [{ name: '' }, /name must be/],
  [{ keyPrefix: 'a b' }, /keyPrefix must be/],
  [{ store: {} }, /store must be memoryStore\(\) or redisStore/],
  [{ store: memoryStore() }, /a limiter with a store needs a name/],
  [{ deadline: 0 }, /deadline must be a duration/],
  [{ denyCache: 0 }, /denyCache must be a duration .*, or false for none, not 0/],
  [{ denyCache: true }, /or false for none, not true/],
  [{ hashTag: 'a}b' }, /hashTag must be 1 to 100 letters/],
  [{ margin: 'a lot' }, /margin must be a duration .* from 0 to 3650 days/],
  [{ gap: -1 }, /gap must be a duration .* from 0 to 3650 days/],
  [{ maxWaiting: 1001 }, /maxWaiting must be a whole number from 0 to 1000, not 1001/],
  [{ policies: {} }, /not both/],
  [{ policy: undefined, policies: null }, /policies must be an object of 1 to 20 policies .*, not null/],
])('rejects the options %j', (wrong, message) => {
  const right = Object.keys(wrong).length === 0 ? {} : { policy: fixedWindow({ limit: 1, window: '1s' }) };
  expect(() => new RateLimiter({ ...right, ...wrong } as never)).toThrow(message);
});

test.each([fixedWindow({ limit: 1, window: '10m' }), tokenBucket({ capacity: 1, refill: 1, every: '10m' })])(
  'close refunds everything that waiting calls had booked: $algorithm',
  async (policy) => {
    const { limiter, store, clock } = limiterOf({ policy });
    await limiter.consume('k');
    const waits = Array.from({ length: 10 }, () => limiter.acquire('k').catch((error: unknown) => error));
    await clock.advance(1);
    await limiter.close();
    for (const wait of waits) expect(isLimiterClosedError(await wait)).toBe(true);
    const after = new RateLimiter({ name: 'demo', policy, store });
    expect((await after.peek('k')).retryAfter).toBeLessThanOrEqual(600_000);
  },
);

test('an acquire aborted while its request is pending refunds its permit', async () => {
  const limiter = new RateLimiter({ policy: fixedWindow({ limit: 3, window: '10m' }) });
  const stop = new AbortController();
  const waiting = limiter.acquire('k', { signal: stop.signal });
  stop.abort(new Error('changed my mind'));
  await expect(waiting).rejects.toThrow('changed my mind');
  expect(await limiter.peek('k')).toMatchObject({ remaining: 3 });
});

test.each([
  [5, /^consume takes an options object \(cost, debug, shadow\), not 5; did you mean \{ cost: 5 \}\?$/],
  [null, /^consume takes an options object \(cost, debug, shadow\), not null$/],
  [{ csot: 5 }, /^consume has no option 'csot'; did you mean 'cost'\?$/],
  [{ timeout: '1s' }, /^consume has no option 'timeout'/],
])('consume rejects %j, which would count as 1', async (options, message) => {
  const { limiter } = limiterOf();
  await expect(limiter.consume('k', options as never)).rejects.toThrow(message);
  expect(await limiter.peek('k')).toMatchObject({ remaining: 2 });
});

test('acquire rejects unknown and invalid options', async () => {
  const { limiter } = limiterOf();
  await expect(limiter.acquire('k', { tiemout: 1 } as never)).rejects.toThrow(
    "acquire has no option 'tiemout'",
  );
  await expect(limiter.acquire('k', { signal: {} } as never)).rejects.toThrow(
    'signal must be an AbortSignal',
  );
});

test('a policy is plain data: it survives JSON', async () => {
  const policy = JSON.parse(JSON.stringify(tokenBucket({ capacity: 5, refill: 1, every: '1s' })));
  expect(await new RateLimiter({ policy }).consume('k')).toMatchObject({ limit: 5, remaining: 4 });
});

test.each([
  [{}],
  [[]],
  [null],
  [5],
  [Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`p${i}`, 1]))],
])('rejects %j as policies', (policies) => {
  expect(() => new RateLimiter({ policies } as never)).toThrow(
    /policies must be an object of 1 to 20 policies/,
  );
});

test('rejects a policy name that could make keys ambiguous', () => {
  const policies = { 'a|b': fixedWindow({ limit: 1, window: '1s' }) };
  expect(() => new RateLimiter({ policies })).toThrow(/the name of a policy must be/);
});

describe('several policies', () => {
  const policies = {
    perMinute: fixedWindow({ limit: 2, window: '1m' }),
    perHour: fixedWindow({ limit: 3, window: '1h' }),
  };
  const several = () => {
    const clock = new ManualClock();
    return { clock, limiter: new RateLimiter({ name: 'api', policies, store: memoryStore({ clock }) }) };
  };

  test('the decision names the policy with the least remaining, or of a denial the longest wait', async () => {
    const { clock, limiter } = several();
    expect(limiter.policies).toEqual(policies);
    expect(await limiter.consume('k')).toMatchObject({
      name: 'api',
      policy: 'perMinute',
      limit: 2,
      remaining: 1,
    });
    await limiter.consume('k');
    expect(await limiter.consume('k')).toMatchObject({
      allowed: false,
      policy: 'perMinute',
      retryAfter: 60_000,
    });
    await clock.advance('1m');
    expect(await limiter.consume('k')).toMatchObject({
      allowed: true,
      policy: 'perHour',
      limit: 3,
      remaining: 0,
    });
    expect(await limiter.consume('k')).toMatchObject({
      allowed: false,
      policy: 'perHour',
      retryAfter: 3_540_000,
      policies: [
        { name: 'perMinute', remaining: 1, retryAfter: 0 },
        { name: 'perHour', retryAfter: 3_540_000 },
      ],
    });
    const never = await limiter.consume('k', { cost: { perMinute: 3, perHour: 1 } });
    expect(never).toMatchObject({ policy: 'perMinute', cost: 3, retryAfter: Number.POSITIVE_INFINITY });
  });

  test('with a single policy, the cost can be given by the name of the limiter', async () => {
    const { limiter } = limiterOf();
    expect(await limiter.consume('k', { cost: { demo: 2 } })).toMatchObject({
      allowed: true,
      cost: 2,
      remaining: 0,
    });
    await expect(limiter.consume('k', { cost: { other: 2 } })).rejects.toThrow("no option 'other'");
  });

  test('policies, limiters, prefixes and hash tags of different names have separate counts', async () => {
    const store = memoryStore({ clock: new ManualClock() });
    const policy = fixedWindow({ limit: 1, window: '1h' });
    const limiters = [
      new RateLimiter({ name: 'a', policies: { b: policy }, store }),
      new RateLimiter({ name: 'a', policy, store }),
      new RateLimiter({ name: 'a:b', policy, store }),
      new RateLimiter({ name: 'b', policy, store }),
      new RateLimiter({ name: 'a', policy, store, keyPrefix: 'other' }),
      new RateLimiter({ name: 'a', policy, store, hashTag: 'tag' }),
      new RateLimiter({ name: 'a', policy, store, hashTag: 'gat' }),
    ];
    for (const limiter of limiters) expect(await limiter.consume('k')).toMatchObject({ allowed: true });
    expect(store.size).toBe(limiters.length);
  });
});

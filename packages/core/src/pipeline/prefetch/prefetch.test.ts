import { farStore } from '../../../../../tests/support/far-store.js';
import { StoreHealth } from '../../health/store-health.js';
import {
  CombinedLimiter,
  concurrency,
  type Decision,
  fixedWindow,
  gcra,
  type Policy,
  RateLimiter,
  type RateLimiterOptions,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../index.js';
import { prefetchDefault } from '../../limiter/prefetch-options.js';

const hundred = fixedWindow({ limit: 100, window: '10s' });

function setup(policy: Policy = hundred, options: Partial<RateLimiterOptions> = {}) {
  const far = farStore();
  const process = () =>
    new RateLimiter({
      name: 'demo',
      policy,
      store: far.store,
      prefetch: { most: 100 },
      ...options,
    } as RateLimiterOptions);
  const plain = new RateLimiter({ name: 'demo', policy, store: far.memory });
  return { ...far, one: process(), process, plain };
}

/** Consumes `count` times, one call after the other. */
async function consumeTimes(limiter: RateLimiter, count: number, key = 'k'): Promise<Decision[]> {
  const decisions = [];
  for (let i = 0; i < count; i += 1) decisions.push(await limiter.consume(key));
  return decisions;
}

const left = async (limiter: RateLimiter) => (await limiter.peek('k')).remaining;

test('blocks grow while they are used quickly, and each decision counts one permit less', async () => {
  const { one, calls } = setup();
  const decisions = await consumeTimes(one, 34);
  expect(calls.map(({ parts }) => parts[0]!.cost)).toEqual([1, 2, 3, 5, 9, 11, 11]);
  expect(decisions.map(({ remaining }) => remaining)).toEqual(decisions.map((_, i) => 99 - i));
  expect(decisions.map(({ source }) => source).slice(0, 6)).toEqual([
    'far',
    'far',
    'prefetch',
    'far',
    'prefetch',
    'prefetch',
  ]);
  expect(decisions.at(-1)).toMatchObject({ allowed: true, degraded: false, resetAfter: 10_000, limit: 100 });
});

test('a block is bounded by `most`, a tenth of the limit, and half of the remaining permits', async () => {
  const { one, calls } = setup(hundred, { prefetch: { most: 3 } });
  await consumeTimes(one, 50);
  expect(Math.max(...calls.map(({ parts }) => parts[0]!.cost))).toBe(4);
  const tenth = setup();
  await consumeTimes(tenth.one, 100);
  expect(Math.max(...tenth.calls.map(({ parts }) => parts[0]!.cost))).toBe(11);
  expect(tenth.calls.slice(-4).map(({ parts }) => parts[0]!.cost)).toEqual([11, 8, 4, 2]);
});

test('a key that is used rarely prefetches nothing', async () => {
  const { one, clock, calls } = setup(fixedWindow({ limit: 100, window: '1h' }));
  for (let i = 0; i < 20; i += 1) {
    await one.consume('k');
    await clock.advance('1s');
  }
  expect(calls.map(({ parts }) => parts[0]!.cost)).toEqual(Array(20).fill(1));
});

test('unused permits are refunded, and the next block is smaller', async () => {
  const { one, plain, clock, calls } = setup();
  await consumeTimes(one, 12); // 20 taken
  expect(await left(plain)).toBe(80);
  await clock.advance('1500ms');
  expect(await left(plain)).toBe(88);
  calls.length = 0;
  await one.consume('k');
  expect(calls.map(({ parts }) => parts[0]!.cost)).toEqual([3]);
});

test('close refunds prefetched permits, also of a block in flight, and ends prefetching', async () => {
  const { one, plain } = setup();
  await consumeTimes(one, 12);
  const combined = new CombinedLimiter({ one });
  await one.close();
  expect(await left(plain)).toBe(88);
  for (let i = 0; i < 9; i += 1) await combined.consume({ one: 'k' });
  expect(await left(plain)).toBe(79);

  const late = setup();
  await consumeTimes(late.one, 3);
  const taking = late.one.consume('k');
  await late.one.close();
  expect(await taking).toMatchObject({ allowed: true });
  expect(await left(late.plain)).toBe(96);
});

test('no call is denied while prefetched permits are left: two processes use the whole limit', async () => {
  const { one, process, plain } = setup();
  const two = process();
  await consumeTimes(one, 12);
  expect((await consumeTimes(two, 79)).every(({ allowed }) => allowed)).toBe(true);
  const rest = [...(await consumeTimes(two, 20)), ...(await consumeTimes(one, 20))];
  expect(rest.filter(({ allowed }) => allowed)).toHaveLength(9);
  expect(await left(plain)).toBe(0);
});

test('calls during a request for a block wait for it, as many as it has permits for', async () => {
  const { one, calls } = setup();
  await consumeTimes(one, 12); // 8 are prefetched, and the next block has 10
  calls.length = 0;
  const decisions = await Promise.all(Array.from({ length: 20 }, () => one.consume('k')));
  expect(calls.map(({ parts }) => parts[0]!.cost)).toEqual([11, 1]);
  expect(decisions.map(({ source }) => source)).toEqual([
    ...Array(8).fill('prefetch'),
    'far',
    ...Array(10).fill('prefetch'),
    'far',
  ]);
  expect(decisions.every(({ allowed }) => allowed)).toBe(true);
});

test('calls that waited for a denied block are sent to the store one by one', async () => {
  const { one, plain, calls } = setup();
  await consumeTimes(one, 20);
  await plain.consume('k', { cost: 76 });
  calls.length = 0;
  const decisions = await Promise.all(Array.from({ length: 5 }, () => one.consume('k')));
  expect(calls.map(({ parts }) => parts[0]!.cost)).toEqual([11, 1, 1, 1, 1, 1]);
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(4);
});

test('calls that waited for a failed block reject with its error, without further requests', async () => {
  const { one, fail, calls } = setup();
  await consumeTimes(one, 20);
  calls.length = 0;
  fail();
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => one.consume('k')));
  expect(outcomes).toMatchObject(Array(5).fill({ reason: { message: 'gone' } }));
  expect(calls).toHaveLength(1);
});

test('calls that waited for a block during an outage are decided by the failure policy', async () => {
  const health = new StoreHealth(() => undefined);
  const { store, fail, calls } = farStore({ health });
  const one = new RateLimiter({ name: 'demo', policy: hundred, store, prefetch: { most: 100 } });
  await consumeTimes(one, 20);
  calls.length = 0;
  fail();
  const decisions = await Promise.all(Array.from({ length: 5 }, () => one.consume('k')));
  expect(decisions.map(({ source }) => source)).toEqual(Array(5).fill('local'));
  expect(new Set(decisions.map(({ remaining }) => remaining))).toEqual(new Set([99, 98, 97, 96, 95]));
  expect(calls.length).toBeLessThanOrEqual(1);
  health.end();
});

test('calls beyond a block in flight are sent separately, and denied only if the limit is used up', async () => {
  const { one, plain, calls } = setup(fixedWindow({ limit: 20, window: '10s' }));
  await consumeTimes(one, 3);
  calls.length = 0;
  const decisions = await Promise.all(Array.from({ length: 30 }, () => one.consume('k')));
  expect(calls.slice(0, 3).map(({ parts }) => parts[0]!.cost)).toEqual([3, 1, 1]);
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(17);
  expect(await left(plain)).toBe(0);
});

test('a block expires with its window, without a further request', async () => {
  const { one, plain, clock, calls } = setup(fixedWindow({ limit: 100, window: '300ms' }));
  await consumeTimes(one, 12);
  await clock.advance('300ms');
  calls.length = 0;
  expect(await one.consume('k')).toMatchObject({ source: 'far', remaining: expect.any(Number) });
  expect(calls.map(({ operation }) => operation)).toEqual(['consume']);
  expect(await left(plain)).toBe(100 - calls[0]!.parts[0]!.cost);
});

test('a prefetched permit is refunded once', async () => {
  const { one, plain } = setup();
  const decisions = await consumeTimes(one, 3);
  expect(decisions[2]!.source).toBe('prefetch');
  await one.refund(decisions[2]!);
  await one.refund(decisions[2]!);
  expect(await left(plain)).toBe(98);
  await one.close();
  expect(await left(plain)).toBe(98);
});

test('a larger cost is taken from the block, or the rest of the block is refunded first', async () => {
  const { one, plain, withOperations } = setup();
  await consumeTimes(one, 12); // 8 prefetched
  expect(await withOperations(() => one.consume('k', { cost: 5 }))).toMatchObject([
    { source: 'prefetch', remaining: 83 },
    [],
  ]);
  expect(await withOperations(() => one.consume('k', { cost: 83 }))).toMatchObject([
    { allowed: true },
    ['refund', 'consume', 'consume'],
  ]);
  expect(await left(plain)).toBe(0);
  expect(await one.consume('k', { cost: 0 })).toMatchObject({ allowed: true, source: 'far' });
});

test('peek counts prefetched permits', async () => {
  const { one, plain } = setup();
  await consumeTimes(one, 12);
  await plain.consume('k', { cost: 80 });
  expect(await one.peek('k')).toMatchObject({ allowed: true, remaining: 8, retryAfter: 0 });
  expect(await one.peek('k', { cost: 9 })).toMatchObject({ allowed: false, remaining: 8 });
});

test('other operations first refund prefetched permits', async () => {
  const { one, plain, process } = setup();
  await consumeTimes(one, 12);
  await plain.consume('k', { cost: 80 });
  expect(await one.acquire('k', { cost: 8, timeout: 0 })).toMatchObject({ allowed: true, remaining: 0 });

  const two = process();
  await two.reset('k');
  await consumeTimes(two, 12);
  await two.penalty('k', 88);
  expect(await two.consume('k')).toMatchObject({ allowed: false });
  await two.reset('k');
  await consumeTimes(two, 12);
  await two.block('k', '1m');
  expect(await two.consume('k')).toMatchObject({ allowed: false });
});

test('reset also drops prefetched permits', async () => {
  const { one, plain, withOperations } = setup();
  await consumeTimes(one, 12);
  expect((await withOperations(() => one.reset('k')))[1]).toEqual(['reset']);
  expect(await left(plain)).toBe(100);
  await one.close();
  expect(await left(plain)).toBe(100);
});

test('under an override nothing is prefetched', async () => {
  const { one, plain, clock, calls } = setup();
  await consumeTimes(one, 12);
  await one.override('k', fixedWindow({ limit: 50, window: '10s' }), { expiresIn: '1m' });
  expect(await left(plain)).toBe(38);
  calls.length = 0;
  await consumeTimes(one, 10);
  await clock.advance('2s');
  expect(await left(plain)).toBe(28);
  expect(calls.map(({ operation, parts }) => [operation, parts[0]!.cost])).toEqual([
    ['consume', 11],
    ['refund', 10],
    ...Array(9).fill(['consume', 1]),
  ]);
});

test('a combination can use prefetched permits', async () => {
  const { one, store, plain } = setup();
  const other = new RateLimiter({ name: 'other', policy: hundred, store });
  const both = new CombinedLimiter({ other, one });
  await consumeTimes(one, 12);
  await plain.consume('k', { cost: 80 });
  expect(await both.peek({ other: 'k', one: 'k' })).toMatchObject({ allowed: true, remaining: 8 });
  expect(await both.consume({ other: 'k', one: 'k' }, { cost: 8 })).toMatchObject({ allowed: true });
  expect(await one.consume('k')).toMatchObject({ allowed: false });
});

test('during an outage the block is used up, then the failure policy decides', async () => {
  const health = new StoreHealth(() => undefined);
  const { store, fail } = farStore({ health });
  const one = new RateLimiter({ name: 'demo', policy: hundred, store, prefetch: { most: 100 } });
  await consumeTimes(one, 12);
  fail();
  const decisions = await consumeTimes(one, 120);
  const sources = decisions.map(({ source }) => source);
  expect(sources).toEqual([...Array(8).fill('prefetch'), ...Array(112).fill('local')]);
  const local = decisions.slice(8);
  expect(local.map(({ remaining }) => remaining).slice(0, 3)).toEqual([99, 98, 97]);
  expect(local.filter(({ allowed }) => allowed)).toHaveLength(100);
  expect(local.every(({ degraded }) => degraded)).toBe(true);
  health.end();
});

test('a combination that the failure policy denies is not sent again, and the block is kept', async () => {
  const health = new StoreHealth(() => undefined);
  const { store, withOperations, fail } = farStore({ health });
  const place = { policy: hundred, store, failurePolicy: 'deny' } as const;
  const one = new RateLimiter({ name: 'demo', prefetch: { most: 100 }, ...place });
  const both = new CombinedLimiter({ one, other: new RateLimiter({ name: 'other', ...place }) });
  await consumeTimes(one, 12); // 8 prefetched
  fail();
  expect(await withOperations(() => both.consume({ one: 'k', other: 'k' }))).toMatchObject([
    { allowed: false, degraded: true, source: 'deny' },
    ['consume'],
  ]);
  expect(await consumeTimes(one, 8)).toMatchObject(Array(8).fill({ source: 'prefetch' }));
  health.end();
});

test('a bucket reserves the permits that refill while prefetched ones are unused', async () => {
  const policy = gcra({ limit: 100, period: '1s' });
  const { one, calls } = setup(policy);
  const decisions = await consumeTimes(one, 95);
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(90);
  expect(decisions[0]).toMatchObject({ limit: 90, remaining: 89 });
  expect(calls.length).toBeLessThan(40);
  const patient = setup(tokenBucket({ capacity: 100, refill: 100, every: '1m' }));
  expect((await consumeTimes(patient.one, 100)).filter(({ allowed }) => allowed)).toHaveLength(98);
});

test.each<[string, Policy]>([
  ['a limit below 10', fixedWindow({ limit: 9, window: '1m' })],
  ['a bucket that is full again in 90 ms', gcra({ limit: 1000, period: '1s', burst: 90 })],
])('%s does not prefetch', async (_, policy) => {
  const { one, calls } = setup(policy);
  expect((await one.consume('k')).limit).toBe(policy.algorithm === 'gcra' ? 90 : 9);
  await consumeTimes(one, 5);
  expect(calls.map(({ parts }) => parts[0]!.cost)).toEqual(Array(6).fill(1));
});

test('several policies do not prefetch', async () => {
  const policies = { short: hundred, log: slidingLog({ limit: 100, window: '1m' }) };
  const { one, calls } = setup(hundred, { policy: undefined, policies } as Partial<RateLimiterOptions>);
  await consumeTimes(one, 5);
  expect(calls.flatMap(({ parts }) => parts.map(({ cost }) => cost))).toEqual(Array(10).fill(1));
});

test('many keys used once do not evict a block', async () => {
  const { one, withOperations } = setup();
  await consumeTimes(one, 12); // 8 prefetched
  for (let i = 0; i < 20_000; i += 1) await one.consume(i);
  expect(await withOperations(() => one.consume('k'))).toMatchObject([{ source: 'prefetch' }, []]);
});

test('beyond a thousand keys, a new key prefetches from its third call on', async () => {
  const { one, calls } = setup();
  for (let i = 0; i < 1_000; i += 1) await one.consume(i);
  calls.length = 0;
  await consumeTimes(one, 5, 'new');
  expect(calls.map(({ parts }) => parts[0]!.cost)).toEqual([1, 1, 2, 3]);
});

test('a denial is answered from memory until it ends, and the key prefetches less afterwards', async () => {
  const { one, calls, clock } = setup();
  await consumeTimes(one, 101);
  calls.length = 0;
  const denied = await consumeTimes(one, 20);
  expect(denied.map(({ source }) => source)).toEqual(Array(20).fill('deny-cache'));
  expect(calls).toEqual([]);
  await clock.advance('10s');
  await consumeTimes(one, 3);
  expect(calls.map(({ parts }) => parts[0]!.cost)).toEqual([1, 2]);
});

test("busy keys beyond the bound evict each other's blocks, which are refunded", async () => {
  const { one, calls } = setup();
  const refunds = () => calls.filter(({ operation }) => operation === 'refund').length;
  for (let i = 0; i < 10_000; i += 1) await consumeTimes(one, 2, `k${i}`); // 1 prefetched of each
  expect(refunds()).toBe(0);
  for (let i = 0; i < 10; i += 1) await consumeTimes(one, 2, `more${i}`);
  expect(refunds()).toBe(10);
});

test('a clock that goes back does not prolong a block', async () => {
  const { one, clock } = setup(slidingWindow({ limit: 100, window: '1h' }));
  await consumeTimes(one, 12);
  clock.set(clock.now() - 60_000_000);
  expect(await one.consume('k')).toMatchObject({ source: 'far' });
});

test.each([
  [concurrency({ limit: 100 })],
  [slidingLog({ limit: 100, window: '1m' })],
  [tokenBucket({ capacity: 100, refill: 100, every: '1s', mode: 'interval' })],
  [tokenBucket({ capacity: 100, refill: 100, every: '1s', borrow: 1 })],
])('rejects %j', (policy) => {
  expect(() => new RateLimiter({ policy, prefetch: { most: 10 } })).toThrow(
    /RateLimiter 'default': prefetch is for .* Use slidingWindow in place of slidingLog/,
  );
});

test('a default for several limits applies to those that support it', async () => {
  const prefetch = prefetchDefault({ most: 100 });
  const able = setup(hundred, { prefetch });
  await consumeTimes(able.one, 3);
  expect(able.calls.map(({ parts }) => parts[0]!.cost)).toEqual([1, 2]);
  const unable = setup(slidingLog({ limit: 100, window: '10s' }), { prefetch });
  await consumeTimes(unable.one, 3);
  expect(unable.calls.map(({ parts }) => parts[0]!.cost)).toEqual([1, 1, 1]);
  expect(() => setup(hundred, { prefetch: prefetchDefault({ most: 0 }) })).toThrow(RangeError);
  expect([prefetchDefault(false), prefetchDefault(undefined)]).toEqual([false, undefined]);
});

test.each<[unknown, RegExp]>([
  [{}, /RateLimiter: prefetch.most must be a whole number from 1 to \d+, not undefined/],
  [{ most: 0 }, /not 0/],
  [{ most: 1.5 }, /not 1.5/],
  [{ most: 10, idle: '9ms' }, /prefetch.idle must be a duration .* from 10 ms to .*, not "9ms"/],
  [{ most: 10, size: 5 }, /prefetch has no option 'size'; its options are most, idle/],
  [true, /prefetch must be \{ most, idle \}, such as \{ most: 100 \}, or false for none, not true/],
  [100, /not 100/],
])('rejects %j', (prefetch, message) => {
  expect(() => new RateLimiter({ policy: hundred, prefetch: prefetch as never })).toThrow(message);
});

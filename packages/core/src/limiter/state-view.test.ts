import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  ManualClock,
  memoryStore,
  type Policy,
  RateLimiter,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '@sluice/core';

const START = new ManualClock().now();
const SECOND = 1_000_000;

/** The `debug` view of a key, with moments counted from the start of the test. */
async function started(policy: Policy) {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ name: 'viewed', policy, store: memoryStore({ clock }) });
  const sinceStart = (name: string, value: unknown) =>
    /^(at|start|end|since|until|fullAt|nextBatch)$/.test(name) && typeof value === 'number'
      ? value - START
      : value;
  const view = async () => {
    const { debug } = await limiter.peek('ada', { debug: true });
    return JSON.parse(JSON.stringify(debug!.policies[0]!.after.view), sinceStart);
  };
  return { clock, limiter, view };
}

test('a token bucket has a level with parts of a permit, below 0 after a penalty', async () => {
  const { clock, limiter, view } = await started(tokenBucket({ capacity: 10, refill: 2, every: '1s' }));
  const full = { kind: 'bucket', capacity: 10, level: 10, perSecond: 2, fullAt: 0 };
  expect(await view()).toEqual(full);
  await limiter.consume('ada', { cost: 8 });
  await clock.advance(250);
  expect(await view()).toEqual({ ...full, level: 2.5, fullAt: 4 * SECOND });
  await limiter.penalty('ada', 5);
  expect(await view()).toMatchObject({ level: -2.5 });
});

test('a bucket that fills in batches has the moment of the next batch', async () => {
  const policy = tokenBucket({ capacity: 6, refill: 3, every: '2s', mode: 'interval' });
  const { clock, limiter, view } = await started(policy);
  expect(await view()).not.toHaveProperty('nextBatch');
  await limiter.consume('ada', { cost: 5 });
  await clock.advance('1s');
  expect(await view()).toMatchObject({ level: 1, perSecond: 1.5, nextBatch: 2 * SECOND, fullAt: 4 * SECOND });
});

test.each([
  ['gcra', gcra({ limit: 4, period: '2s' })],
  ['leakyBucket', leakyBucket({ capacity: 4, leak: 2, every: '1s' })],
])('%s has the view of a bucket', async (_, policy) => {
  const { limiter, view } = await started(policy);
  await limiter.consume('ada');
  expect(await view()).toMatchObject({ kind: 'bucket', capacity: 4, level: 3, perSecond: 2 });
});

test('a fixed window has a start, an end and its use', async () => {
  const { clock, limiter, view } = await started(fixedWindow({ limit: 5, window: '10s' }));
  expect(await view()).toEqual({ kind: 'window', limit: 5, used: 0 });
  await clock.advance('1s');
  await limiter.consume('ada', { cost: 3 });
  await clock.advance('1s');
  expect(await view()).toEqual({ kind: 'window', limit: 5, used: 3, start: SECOND, end: 11 * SECOND });
  await clock.advance('9s');
  expect(await view()).toEqual({ kind: 'window', limit: 5, used: 0 });
});

test('a sliding log has the moments of its calls, a sliding window the ends of its slots', async () => {
  const policies = [
    slidingLog({ limit: 5, window: '10s' }),
    slidingWindow({ limit: 5, window: '10s', slots: 5 }),
  ];
  const seen = [];
  for (const policy of policies) {
    const { clock, limiter, view } = await started(policy);
    await limiter.consume('ada');
    await clock.advance('3s');
    await limiter.consume('ada', { cost: 2 });
    await clock.advance('7s');
    seen.push(await view());
  }
  const common = { kind: 'log', limit: 5, window: 10 * SECOND };
  expect(seen).toEqual([
    { ...common, used: 2, slot: 0, entries: [{ at: 3 * SECOND, permits: 2 }] },
    {
      ...common,
      used: 3,
      slot: 2 * SECOND,
      entries: [
        { at: 2 * SECOND, permits: 1 },
        { at: 4 * SECOND, permits: 2 },
      ],
    },
  ]);
  const { view } = await started(policies[0]!);
  expect(await view()).toEqual({ ...common, used: 0, slot: 0, entries: [] });
});

test('held permits have leases, and waiting calls are listed', async () => {
  const { clock, limiter, view } = await started(concurrency({ limit: 2, lease: '10s' }));
  expect(await view()).toEqual({ kind: 'holders', limit: 2, held: 0, holders: [], waiting: [] });
  const first = await limiter.acquire('ada', { cost: 2 });
  await clock.advance('1s');
  const second = limiter.acquire('ada');
  await clock.advance(0);
  expect(await view()).toMatchObject({
    held: 2,
    holders: [{ since: 0, until: expect.any(Number), permits: 2 }],
    waiting: [{ since: SECOND, until: expect.any(Number), permits: 1 }],
  });
  await limiter.release(first);
  await limiter.release(await second);
  expect(await view()).toMatchObject({ held: 0, holders: [], waiting: [] });
  await limiter.close();
});

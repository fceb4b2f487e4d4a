import { setTimeout as sleep } from 'node:timers/promises';
import type { Histogram } from '@opentelemetry/sdk-metrics';
import {
  CombinedLimiter,
  concurrency,
  fixedWindow,
  memoryStore,
  RateLimiter,
  slidingWindow,
  tokenBucket,
} from '@sluice/core';
import { CollectedMetrics } from '../../../tests/support/otel.js';
import { rejection } from '../../../tests/support/rejection.js';
import { instrument, type Telemetry } from './index.js';

let metrics: CollectedMetrics;
let telemetry: Telemetry;
beforeEach(() => {
  metrics = new CollectedMetrics();
  telemetry = instrument({ meterProvider: metrics.provider });
});
afterEach(async () => {
  telemetry.close();
  await metrics.shutdown();
});

test('counts decisions, permits and calls near the limit', async () => {
  const limiter = new RateLimiter({ name: 'api', policy: fixedWindow({ limit: 10, window: '1h' }) });
  await limiter.consume('ann', { cost: 7 });
  await limiter.consume('ann', { cost: 2 }); // 1 of 10 is left
  await limiter.consume('ann', { cost: 3 });
  await limiter.consume('ann', { cost: 3, shadow: true });
  await limiter.peek('ann');
  expect(await metrics.values('sluice.decisions')).toEqual({
    'limiter=api policy=api result=allowed source=memory mode=enforce': 2,
    'limiter=api policy=api result=denied source=memory mode=enforce': 1,
    'limiter=api policy=api result=denied source=memory mode=shadow': 1,
  });
  expect(await metrics.values('sluice.permits')).toEqual({
    'limiter=api policy=api result=allowed mode=enforce': 9,
    'limiter=api policy=api result=denied mode=enforce': 3,
    'limiter=api policy=api result=denied mode=shadow': 3,
  });
  expect(await metrics.values('sluice.near_limit')).toEqual({ 'limiter=api policy=api mode=enforce': 1 });
});

test('an attribute names the policy that decided', async () => {
  const policies = {
    burst: tokenBucket({ capacity: 5, refill: 5, every: '1h' }),
    daily: fixedWindow({ limit: 6, window: '1d' }),
  };
  const store = memoryStore();
  const limiter = new RateLimiter({ name: 'api', policies, store });
  await limiter.consume('ann', { cost: { burst: 1, daily: 6 } });
  await limiter.consume('ann');
  await limiter.consume('ben', { cost: { burst: 5, daily: 1 } });
  const other = new RateLimiter({
    name: 'second',
    policy: slidingWindow({ limit: 1, window: '1h' }),
    store,
  });
  await new CombinedLimiter({ api: limiter, second: other }).consume({ api: 'eve', second: 'eve' });
  expect(await metrics.values('sluice.permits')).toEqual({
    'limiter=api policy=daily result=allowed mode=enforce': 6,
    'limiter=api policy=daily result=denied mode=enforce': 1,
    'limiter=api policy=burst result=allowed mode=enforce': 5,
    'limiter=api+second policy=second result=allowed mode=enforce': 1,
  });
});

test('a call without a decision has the type of its error, and no source', async () => {
  const limiter = new RateLimiter({ name: 'api', policy: concurrency({ limit: 1 }) });
  await limiter.acquire('ann');
  const abort = new AbortController();
  const waiting = rejection(limiter.acquire('ann', { signal: abort.signal }));
  await limiter.consume('ben'); // takes as many turns as that call needs to wait
  abort.abort();
  await waiting;
  const store = memoryStore();
  store.decide = () => {
    throw Object.assign(new Error('the key is ann'), { code: 'BROKEN' });
  };
  const broken = new RateLimiter({ name: 'broken', policy: fixedWindow({ limit: 1, window: '1h' }), store });
  await rejection((async () => broken.consume('ann'))());
  expect(await metrics.values('sluice.decisions')).toEqual({
    'limiter=api policy=api result=allowed source=memory mode=enforce': 2,
    'limiter=api policy=api result=canceled mode=enforce': 1,
    'limiter=broken policy=broken result=error mode=enforce error.type=BROKEN': 1,
  });
  expect(await metrics.values('sluice.decision.duration')).toMatchObject({ 'limiter=api source=memory': 1 });
});

test('in a burst, every 251st decision is timed', async () => {
  const limiter = new RateLimiter({ name: 'api', policy: fixedWindow({ limit: 10_000, window: '1h' }) });
  for (let i = 0; i < 5020; i += 1) limiter.consumeSync('ann');
  const [point, ...rest] = (await metrics.collect()).get('sluice.decision.duration')!;
  expect(rest).toEqual([]);
  expect(point!.attributes).toEqual({ 'sluice.limiter': 'api', 'sluice.source': 'memory' });
  const { count, buckets } = point!.value as Histogram;
  expect(buckets.boundaries).toEqual([
    5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25,
  ]);
  // Also one for each 10 ms that the calls took.
  expect(count).toBeGreaterThanOrEqual(20);
  expect(count).toBeLessThan(5020 / 2);
});

test('decisions far apart are all timed', async () => {
  const limiter = new RateLimiter({ name: 'api', policy: fixedWindow({ limit: 1000, window: '1h' }) });
  for (let i = 0; i < 5; i += 1) {
    await limiter.consume('ann');
    await sleep(20);
  }
  expect(await metrics.values('sluice.decision.duration')).toEqual({ 'limiter=api source=memory': 5 });
});

test('names made from requests count as other beyond maxLimiters', async () => {
  telemetry.close();
  telemetry = instrument({ meterProvider: metrics.provider, maxLimiters: 2 });
  const policy = fixedWindow({ limit: 1, window: '1h' });
  for (const name of ['a', 'b', 'c', 'd', 'a']) new RateLimiter({ name, policy }).consumeSync('k');
  for (let i = 0; i < 30; i += 1)
    new RateLimiter({ name: 'b', policies: { [`p${i}`]: policy } }).consumeSync('k');
  const values = await metrics.values('sluice.decisions');
  const valuesOf = (limiter: string) =>
    Object.entries(values).filter(([name]) => name.startsWith(`limiter=${limiter} `));
  const rest = 'result=allowed source=memory mode=enforce';
  expect(valuesOf('a')).toEqual([[`limiter=a policy=a ${rest}`, 2]]);
  expect(valuesOf('b')).toHaveLength(21);
  expect(values).toMatchObject({
    [`limiter=b policy=other ${rest}`]: 11,
    [`limiter=other policy=c ${rest}`]: 1,
  });
});

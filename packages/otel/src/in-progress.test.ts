import { concurrency, leakyBucket, ManualClock, memoryStore, RateLimiter, tokenBucket } from '@sluice/core';
import { eventually } from '../../../tests/support/eventually.js';
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

const waiting = () => metrics.values('sluice.waiting');

test('a waiting call is counted while it waits, then timed as a wait and not as a decision', async () => {
  const clock = new ManualClock();
  const policy = leakyBucket({ capacity: 10, leak: 1, every: '1s' });
  const limiter = new RateLimiter({ name: 'line', policy, store: memoryStore({ clock }) });
  await limiter.acquire('ann');
  const abort = new AbortController();
  const calls = [limiter.acquire('ann'), limiter.acquire('ann', { signal: abort.signal })];
  await eventually(async () => (await waiting())['limiter=line'] === 2);
  abort.abort();
  await rejection(calls[1]!);
  expect(await waiting()).toEqual({ 'limiter=line': 1 });
  await clock.advance('1s');
  await calls[0];
  expect(await waiting()).toEqual({ 'limiter=line': 0 });
  expect(await metrics.values('sluice.wait.duration')).toEqual({
    'limiter=line result=allowed': 1,
    'limiter=line result=canceled': 1,
  });
  expect(await metrics.values('sluice.decision.duration')).toEqual({ 'limiter=line source=memory': 1 });
});

test('a lease is counted while it is held, and a wait that ends in a denial is timed', async () => {
  const limiter = new RateLimiter({ name: 'db', policy: concurrency({ limit: 2 }) });
  const [one, two] = await Promise.all([limiter.acquire('a'), limiter.consume('a')]);
  expect(await metrics.values('sluice.leases')).toEqual({ 'limiter=db': 2 });
  await rejection(limiter.acquire('a', { timeout: 30 }));
  expect(await metrics.values('sluice.wait.duration')).toEqual({ 'limiter=db result=denied': 1 });
  await limiter.release(one);
  expect(await metrics.values('sluice.leases')).toEqual({ 'limiter=db': 1 });
  await limiter.close();
  expect(await metrics.values('sluice.leases')).toEqual({ 'limiter=db': 0 });
  expect(two.allowed).toBe(true);
  expect(await metrics.values('sluice.refunds')).toEqual({});
});

test('a wait or lease that began before instrument is not subtracted', async () => {
  telemetry.close();
  const limiter = new RateLimiter({ name: 'db', policy: concurrency({ limit: 1 }) });
  const held = await limiter.acquire('a');
  const next = limiter.acquire('a');
  await new Promise(setImmediate);
  telemetry = instrument({ meterProvider: metrics.provider });
  await limiter.release(held);
  await limiter.release(await next);
  expect(await waiting()).toEqual({});
  expect(await metrics.values('sluice.leases')).toEqual({ 'limiter=db': 0 }); // the second one, held and released
});

test('blocks by escalation are counted', async () => {
  const limiter = new RateLimiter({
    name: 'login',
    policy: tokenBucket({ capacity: 1, refill: 1, every: '1h' }),
    escalate: { after: 2, within: '1h', block: '1h' },
  });
  for (const user of ['ann', 'bob']) for (let i = 0; i < 5; i += 1) await limiter.consume(user);
  expect(await metrics.values('sluice.escalations')).toEqual({ 'limiter=login': 2 });
});

test('refunds are counted in permits, and reservations record how far the estimate was off', async () => {
  const limiter = new RateLimiter({
    name: 'tokens',
    policy: tokenBucket({ capacity: 1000, refill: 1, every: '1h' }),
  });
  await limiter.refund(await limiter.consume('ann', { cost: 30 }));
  await (await limiter.reserve('ann', 100)).settle(60);
  await (await limiter.reserve('ann', 100)).settle(150);
  await (await limiter.reserve('ann', 100)).cancel();
  await limiter.reward('ann', 5);
  expect(await metrics.values('sluice.refunds')).toEqual({ 'limiter=tokens': 30 + 40 + 100 + 5 });
  const [drift] = (await metrics.collect()).get('sluice.reservation.drift')!;
  expect(drift).toMatchObject({
    attributes: { 'sluice.limiter': 'tokens' },
    value: { count: 2, sum: 0.6 + 1.5 },
  });
});

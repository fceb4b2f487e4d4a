import { fixedWindow, memoryStore, RateLimiter } from '@sluice/core';
import { CollectedMetrics } from '../../../tests/support/otel.js';
import { instrument } from './index.js';

test('names and keys made from requests do not grow the number of time series beyond maxLimiters', async () => {
  const metrics = new CollectedMetrics();
  const telemetry = instrument({ meterProvider: metrics.provider, maxLimiters: 50 });
  const policy = fixedWindow({ limit: 1, window: '1h' });
  const store = memoryStore();
  const one = new RateLimiter({ name: 'one', policy, store });
  for (let i = 0; i < 10_000; i += 1) one.consumeSync(`key\n${i}`);
  for (let i = 0; i < 10_000; i += 1) new RateLimiter({ name: `made-${i}`, policy, store }).consumeSync('k');
  const each = Array.from({ length: 500 }, (_, i) => ({ [`by-request-${i}`]: policy }));
  for (const policies of each) new RateLimiter({ name: 'many', policies, store }).consumeSync('k');
  const decisions = await metrics.values('sluice.decisions');
  expect(decisions).toMatchObject({
    'limiter=one policy=one result=allowed source=memory mode=enforce': 10_000,
    'limiter=made-48 policy=made-48 result=allowed source=memory mode=enforce': 1,
    'limiter=other policy=other result=allowed source=memory mode=enforce': 10_000 - 49 - 19 + 500 - 1,
  });
  for (const points of (await metrics.collect()).values()) expect(points.length).toBeLessThan(50 + 21 + 1);
  telemetry.close();
  await metrics.shutdown();
}, 60_000);

import { setTimeout as sleep } from 'node:timers/promises';
import { fixedWindow, RateLimiter, redisStore } from '@sluice/core';
import { eventually } from '../../../tests/support/eventually.js';
import { CollectedMetrics } from '../../../tests/support/otel.js';
import { startRedis } from '../../../tests/support/redis/redis-server.js';
import { instrument } from './index.js';

test('script calls and batch sizes are counted, and store.state shows an outage', async () => {
  const metrics = new CollectedMetrics();
  const telemetry = instrument({ meterProvider: metrics.provider });
  const redis = await startRedis();
  const store = redisStore(redis.url);
  const policy = fixedWindow({ limit: 1000, window: '1h' });
  const limiter = new RateLimiter({ name: 'api', policy, store, deadline: '10s', denyCache: false });
  const server = `store=redis node=redis://127.0.0.1:${redis.port}`;
  const states = async () => {
    const { [`${server} state=ok`]: ok, [`${server} state=degraded`]: degraded } =
      await metrics.values('sluice.store.state');
    return [ok, degraded];
  };
  try {
    await limiter.consume('ann');
    await Promise.all(['a', 'b', 'c', 'd'].map((key) => limiter.consume(key)));
    expect(await states()).toEqual([1, 0]);
    const calls = await metrics.values('sluice.store.calls');
    expect(Object.keys(calls)).toEqual([server]);
    expect(calls[server]).toBeGreaterThanOrEqual(2);
    const [size] = (await metrics.collect()).get('sluice.store.batch.size')!;
    expect(size!.attributes).toEqual({
      'sluice.store': 'redis',
      'sluice.node': `redis://127.0.0.1:${redis.port}`,
    });

    await redis.freeze();
    const sent = limiter.consume('ann'); // its script is sent, and never answered
    await sleep(50);
    await new Promise(setImmediate);
    await redis.kill('SIGKILL');
    await sent;
    await eventually(async () => {
      await limiter.consume('ann');
      return (await states())[1] === 1;
    });
    expect(await states()).toEqual([0, 1]);
    const failed = Object.keys(await metrics.values('sluice.store.calls')).filter((name) => name !== server);
    expect(failed).not.toEqual([]);
    for (const name of failed) expect(name).toMatch(new RegExp(`^${server} error.type=SLUICE_\\w+$`));
    const sources = await metrics.values('sluice.decisions');
    expect(Object.keys(sources)).toContain('limiter=api policy=api result=allowed source=local mode=enforce');

    await redis.restart();
    await eventually(async () => {
      await limiter.consume('ann');
      return (await states())[0] === 1;
    });
    expect(await states()).toEqual([1, 0]);
  } finally {
    telemetry.close();
    await store.close();
    await redis.stop();
    await metrics.shutdown();
  }
});

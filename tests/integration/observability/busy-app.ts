import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  concurrency,
  fixedWindow,
  leakyBucket,
  RateLimiter,
  type RedisStore,
  redisStore,
} from '@sluice/core';
import { instrument } from '@sluice/otel';
import { freePort } from '../../support/redis/free-port.js';
import { redisUrl } from '../../support/redis-url.js';

/** What Prometheus reads at `/metrics` of a program that has done everything that has a metric. */
export async function scrapeOfBusyApp(): Promise<string> {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const server = createServer((request, response) => exporter.getMetricsRequestHandler(request, response));
  const telemetry = instrument({ meterProvider: new MeterProvider({ readers: [exporter] }) });
  const out = `redis://127.0.0.1:${await freePort()}`;
  const refused = redisUrl().replace('://', '://nobody:wrong@');
  const stores = [redisStore(redisUrl()), redisStore(out), redisStore(refused)] as const;
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await beBusy(...stores);
    const { port } = server.address() as AddressInfo;
    return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  } finally {
    telemetry.close();
    await Promise.all(stores.map((store) => store.close()));
    await new Promise((closed) => server.close(closed));
    await exporter.shutdown();
  }
}

async function beBusy(store: RedisStore, out: RedisStore, refused: RedisStore): Promise<void> {
  const name = (what: string) => `${what}-${process.pid}`;
  const deadline = '10s';

  const api = new RateLimiter({
    name: name('api'),
    policies: { hour: fixedWindow({ limit: 2, window: '1h' }), day: fixedWindow({ limit: 9, window: '1d' }) },
    store,
    deadline,
  });
  for (let call = 0; call < 3; call += 1) await api.consume('ann');
  await api.consume('ann', { shadow: true });
  await api.reward('ann', 1);

  const tokens = new RateLimiter({
    name: name('tokens'),
    policy: fixedWindow({ limit: 1000, window: '1h' }),
    store,
    deadline,
  });
  const reservation = await tokens.reserve('ann', 100);
  await reservation.settle(150);

  const gateway = new RateLimiter({
    name: name('gateway'),
    policy: leakyBucket({ capacity: 3, leak: 1, every: '20ms' }),
    store,
    deadline,
  });
  await Promise.all([1, 2, 3].map(() => gateway.acquire('all', { timeout: '10s' })));

  const reports = new RateLimiter({
    name: name('reports'),
    policy: concurrency({ limit: 1 }),
    store,
    deadline,
  });
  await reports.schedule('ann', async () => {});

  const degraded = new Promise((resolve) => out.on('degraded', resolve));
  const local = new RateLimiter({
    name: name('local'),
    policy: fixedWindow({ limit: 5, window: '1h' }),
    store: out,
  });
  const misconfigured = new RateLimiter({
    name: name('misconfigured'),
    policy: fixedWindow({ limit: 5, window: '1h' }),
    store: refused,
    deadline,
  });
  for (let call = 0; call < 6; call += 1) await local.consume('ann');
  await expect(misconfigured.consume('ann')).rejects.toThrow('WRONGPASS');
  await degraded;
}

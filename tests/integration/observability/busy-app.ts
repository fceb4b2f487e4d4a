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
  subscribe,
} from '@sluice/core';
import { instrument } from '@sluice/otel';
import { TcpProxy } from '../../support/redis/tcp-proxy.js';
import { redisUrl } from '../../support/redis-url.js';

/** The response of `/metrics` of a program that has emitted every metric. */
export async function scrapeOfBusyApp(): Promise<string> {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const server = createServer((request, response) => exporter.getMetricsRequestHandler(request, response));
  const telemetry = instrument({ meterProvider: new MeterProvider({ readers: [exporter] }) });
  const proxy = await TcpProxy.start(redisUrl());
  const store = redisStore(redisUrl());
  const unsteady = redisStore(proxy.url);
  const refused = redisStore(new URL('/9999', redisUrl()).href);
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await beBusy(store);
    await loseReplies(unsteady, proxy);
    await goOut(unsteady, proxy);
    await beRefused(refused);
    const { port } = server.address() as AddressInfo;
    return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  } finally {
    telemetry.close();
    await Promise.all([store, unsteady, refused].map((each) => each.close()));
    await proxy.close();
    await new Promise((closed) => server.close(closed));
    await exporter.shutdown();
  }
}

const name = (what: string) => `${what}-${process.pid}`;
const deadline = '10s';

async function beBusy(store: RedisStore): Promise<void> {
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
}

const local = (store: RedisStore, what: string) =>
  new RateLimiter({ name: name(what), policy: fixedWindow({ limit: 1000, window: '1h' }), store });

/** Lets events through: a loop of decisions during an outage needs no network, and would block the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Waits until a script call was sent whose reply is lost. */
async function loseReplies(store: RedisStore, proxy: TcpProxy): Promise<void> {
  let lost = false;
  const stop = subscribe('sluice:store-call', ({ error }) => {
    lost ||= error !== undefined;
  });
  const limiter = local(store, 'lossy');
  while (!lost) {
    await store.connect();
    proxy.resetNextReply();
    await limiter.consume('ann');
    await turn();
  }
  stop();
}

async function goOut(store: RedisStore, proxy: TcpProxy): Promise<void> {
  let degraded = false;
  store.on('degraded', () => {
    degraded = true;
  });
  await proxy.close();
  const limiter = local(store, 'local');
  while (!degraded) {
    await limiter.consume('ann');
    await turn();
  }
}

async function beRefused(store: RedisStore): Promise<void> {
  const limiter = new RateLimiter({
    name: name('refused'),
    policy: fixedWindow({ limit: 5, window: '1h' }),
    store,
    deadline,
  });
  await expect(limiter.consume('ann')).rejects.toThrow('no such database');
}

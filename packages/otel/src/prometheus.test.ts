import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  concurrency,
  leakyBucket,
  ManualClock,
  memoryStore,
  RateLimiter,
  redisStore,
  tokenBucket,
} from '@sluice/core';
import { HOLD, PAUSE } from '@sluice/core/internal';
import { rateLimit } from '@sluice/express';
import express from 'express';
import supertest from 'supertest';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { instrument } from './index.js';

/** The metric names that the README lists. */
function documented(): string[] {
  const readme = readFileSync(join(__dirname, '../README.md'), 'utf8');
  const [, block] = /### Names in Prometheus[\s\S]*?```text\n([\s\S]*?)```/.exec(readme)!;
  const names = block!.matchAll(/(sluice_\w+?)(_bucket, _sum, _count)?(?=\s)/g);
  return [...names]
    .flatMap(([, name, histogram]) =>
      histogram === undefined ? [name!] : ['_bucket', '_sum', '_count'].map((suffix) => name! + suffix),
    )
    .sort();
}

test('a scrape contains exactly the metrics of the README, and no key', async () => {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const server = createServer((request, response) => exporter.getMetricsRequestHandler(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const provider = new MeterProvider({ readers: [exporter] });
  const telemetry = instrument({ meterProvider: provider });
  const store = redisStore(redisUrl());
  const deadline = '10s';
  try {
    const api = uniqueName('api');
    const policy = tokenBucket({ capacity: 2, refill: 1, every: '1h' });
    const app = express();
    app.use(
      rateLimit({
        name: api,
        policy,
        store,
        deadline,
        keyGenerator: () => 'secret-key',
        dryRun: true,
        onLimited: () => {},
      }),
    );
    app.get('/secret-route', (_request, response) => void response.send('ok'));
    for (let i = 0; i < 3; i += 1) await supertest(app).get('/secret-route').expect(200);

    const clock = new ManualClock();
    const line = new RateLimiter({
      name: 'line',
      policy: leakyBucket({ capacity: 2, leak: 1, every: '1s' }),
      store: memoryStore({ clock }),
    });
    const calls = [line.acquire('secret-key'), line.acquire('secret-key')]; // the second one waits
    await clock.advance('1s');
    await Promise.all(calls);
    const db = new RateLimiter({ name: 'db', policy: concurrency({ limit: 1 }) });
    await db.release(await db.acquire('secret-key'));
    const tokens = new RateLimiter({ name: 'tokens', policy });
    await (await tokens.reserve('secret-key', 2)).settle(1);
    const escalate = { after: 1, within: '1h', block: '1h' } as const;
    const login = new RateLimiter({ name: 'login', policy, escalate });
    for (let i = 0; i < 3; i += 1) await login.consume('secret-key');

    const pause = { upstream: 'partner', state: 'paused', scope: 'account', key: 'secret-key' } as const;
    PAUSE.publish({ ...pause, kind: 'limit', reason: 'secret-reason', status: 429, header: '', until: 0 });
    PAUSE.publish({
      ...pause,
      state: 'resumed',
      kind: 'limit',
      reason: 'secret-reason',
      status: 429,
      header: 'retry-after',
      until: 0,
    });

    const hold = {
      meter: 'ai',
      id: 'secret-id',
      key: undefined,
      axis: undefined,
      retryAfter: undefined,
      lapsesAt: Number.POSITIVE_INFINITY,
    };
    HOLD.publish({ ...hold, state: 'held', amounts: { usd: 5 } });
    HOLD.publish({ ...hold, state: 'settled', amounts: { usd: 5 } });
    HOLD.publish({ ...hold, state: 'denied', amounts: { usd: 5 }, axis: 'usd', key: 'secret-key' });

    const scraped = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const lines = scraped.split('\n').filter((text) => text.startsWith('sluice_'));
    const names = new Set(lines.map((text) => /^\w+/.exec(text)![0]));
    expect([...names].sort()).toEqual(documented());
    expect(scraped).not.toContain('secret');
    const labels = (mode: string, result: string) =>
      `sluice_limiter="${api}",sluice_policy="${api}",sluice_result="${result}",sluice_source="redis",sluice_mode="${mode}"`;
    const value = (mode: string, result: string) =>
      lines
        .find((text) => text.startsWith(`sluice_decisions_total{${labels(mode, result)}`))
        ?.split(' ')
        .at(-1);
    expect([value('shadow', 'allowed'), value('shadow', 'denied'), value('enforce', 'denied')]).toEqual([
      '2',
      '1',
      undefined,
    ]);
  } finally {
    telemetry.close();
    await store.close();
    await provider.shutdown();
    server.closeAllConnections();
    server.close();
  }
});

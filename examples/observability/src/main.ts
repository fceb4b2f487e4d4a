import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryStore, redisStore } from '@sluice/core';
import { createApp } from './app.js';
import { createTelemetry } from './telemetry.js';

start().catch(({ message }: Error) => {
  console.error(message);
  process.exitCode = 1;
});

async function start(): Promise<void> {
  const { REDIS_URL, PORT = '3000', METRICS_PORT = '9464', DEADLINE = '100ms' } = process.env;
  const ports = { app: port('PORT', PORT), metrics: port('METRICS_PORT', METRICS_PORT) };
  const store = REDIS_URL ? redisStore(REDIS_URL) : memoryStore();
  const metrics = createTelemetry();
  const app = createApp(store, DEADLINE).listen(ports.app, '127.0.0.1');
  // Requests in progress are answered, and their connections closed.
  const stop = () => {
    for (const server of [app, metrics]) {
      server.keepAliveTimeout = 1;
      server.close();
    }
    void store.close();
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await once(app, 'listening');
    // A port of their own, because metrics must not be public.
    await once(metrics.listen(ports.metrics, '127.0.0.1'), 'listening');
  } catch (error) {
    stop();
    throw error;
  }
  console.log(`${urlOf(app)}, limits in ${store.name}, metrics at ${urlOf(metrics)}/metrics`);
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function port(name: string, text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new RangeError(`${name} must be a number from 0 to 65535, not ${JSON.stringify(text)}`);
  }
  return Number(text);
}

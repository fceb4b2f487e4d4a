import type { AddressInfo } from 'node:net';
import { memoryStore, redisStore } from '@sluice/core';
import { createApp } from './app.js';
import { echoingModel } from './model.js';

const { REDIS_URL, PORT = '3000', DEADLINE = '100ms' } = process.env;

try {
  const store = REDIS_URL ? redisStore(REDIS_URL) : memoryStore();
  const server = createApp(echoingModel, store, DEADLINE).listen(port(PORT), '127.0.0.1');
  server.once('error', fail);
  server.once('listening', () => {
    const { port } = server.address() as AddressInfo;
    console.log(`http://127.0.0.1:${port}, limits in ${store.name}`);
  });
  // Requests in progress are answered, and their connections closed.
  const stop = () => {
    server.keepAliveTimeout = 1;
    server.close(() => void store.close());
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
} catch (error) {
  fail(error as Error);
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new RangeError(`PORT must be a number from 0 to 65535, not ${JSON.stringify(text)}`);
  }
  return Number(text);
}

function fail({ message }: Error): void {
  console.error(message);
  process.exitCode = 1;
}

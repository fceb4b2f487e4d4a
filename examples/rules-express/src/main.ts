import type { AddressInfo } from 'node:net';
import { memoryStore, redisStore } from '@sluice/core';
import { loadRules } from '@sluice/rules';
import { createApp } from './app.js';

const { REDIS_URL, PORT = '3000', DEADLINE = '100ms', LIMITS = 'limits.yaml' } = process.env;

start().catch(fail);

async function start(): Promise<void> {
  const wanted = port(PORT);
  const store = REDIS_URL ? redisStore(REDIS_URL) : memoryStore();
  const rules = await loadRules(LIMITS, { store, deadline: DEADLINE }); // the file is watched
  const close = async () => {
    await rules.close();
    await store.close();
  };
  const server = createApp(rules).listen(wanted, '127.0.0.1');
  server.once('error', (error) => {
    fail(error);
    void close();
  });
  server.once('listening', () => {
    const { port } = server.address() as AddressInfo;
    console.log(`http://127.0.0.1:${port}, limits of ${LIMITS} in ${store.name}`);
  });
  // Requests in progress are answered, and their connections closed.
  const stop = () => {
    server.keepAliveTimeout = 1;
    server.close(() => void close());
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
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

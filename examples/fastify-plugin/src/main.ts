import { memoryStore, redisStore } from '@sluice/core';
import { createApp } from './app.js';

const { REDIS_URL, PORT = '3000', DEADLINE = '100ms' } = process.env;

start().catch(({ message }: Error) => {
  console.error(message);
  process.exitCode = 1;
});

async function start(): Promise<void> {
  const store = REDIS_URL ? redisStore(REDIS_URL) : memoryStore();
  const app = await createApp(store, DEADLINE);
  console.log(`${await app.listen({ port: port(PORT), host: '127.0.0.1' })}, limits in ${store.name}`);
  // Requests in progress are answered, and their connections closed.
  const stop = () => {
    app.server.keepAliveTimeout = 1;
    app.close(() => void store.close());
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new RangeError(`PORT must be a number from 0 to 65535, not ${JSON.stringify(text)}`);
  }
  return Number(text);
}

import type { AddressInfo } from 'node:net';
import { redisStore } from '@sluice/core';
import { sqliteStore } from '@sluice/sqlite';
import OpenAI from 'openai';
import { createApp } from './app.js';
import { FakeProvider } from './fake-provider.js';

const { REDIS_URL, FILE = 'chat.db', PORT = '3000', DEADLINE = '1s' } = process.env;

serve().catch(fail);

async function serve(): Promise<void> {
  const store = REDIS_URL ? redisStore(REDIS_URL) : sqliteStore({ file: FILE });
  const wanted = port(PORT);
  const provider = await FakeProvider.start();
  const client = new OpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1` });
  const server = createApp(client, store, DEADLINE).listen(wanted, '127.0.0.1');
  const close = () => Promise.all([store.close(), provider.stop()]);
  server.once('error', (error) => {
    fail(error);
    void close();
  });
  server.once('listening', () => {
    const { port } = server.address() as AddressInfo;
    console.log(`http://127.0.0.1:${port}, budgets in ${REDIS_URL ? 'Redis' : `the file ${FILE}`}`);
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

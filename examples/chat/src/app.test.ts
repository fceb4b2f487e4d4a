import { once } from 'node:events';
import type { Server } from 'node:http';
import { ManualClock, type MemoryStore, memoryStore, StoreUnavailableError } from '@sluice/core';
import OpenAI from 'openai';
import supertest from 'supertest';
import { createApp } from './app.js';
import { FakeProvider } from './fake-provider.js';
import { tokensOf } from './tokens.js';

let clock: ManualClock;
let store: MemoryStore;
let provider: FakeProvider;
let server: Server;

beforeEach(async () => {
  clock = new ManualClock();
  store = memoryStore({ clock });
  provider = await FakeProvider.start();
  const client = new OpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1`, maxRetries: 0 });
  server = createApp(client, store).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await provider.stop();
  await store.close();
});

const chat = (prompt: unknown, tenant = 'acme') =>
  supertest(server).post('/chat').set('X-Tenant', tenant).send({ prompt });
const left = async (tenant = 'acme') =>
  (await supertest(server).get('/budget').set('X-Tenant', tenant)).body.left;

test('an answer costs what the provider says', async () => {
  const { text, headers } = await chat('Say 5 words').expect(200);
  expect(headers['ratelimit-policy']).toBe(
    `"chat.usd";q=10000;w=${31 * 86_400}, "chat.running";q=4;qu="concurrent-requests"`,
  );
  expect(headers.ratelimit).toMatch(/^"chat.usd";r=\d+;t=\d+, "chat.running";r=3$/);
  expect(text).toBe('word word word word word \n');
  expect(await left()).toBe('$0.009865');
  expect(await left('globex')).toBe('$0.010000');
});

test('a stream ends with the budget, and the next calls are denied until the next month', async () => {
  const { text } = await chat('Say 100000 words').expect(200);
  expect(text).toMatch(/word \n\[The budget of this month has ended: usd\]\n$/);
  expect(tokensOf(text)).toBeLessThan(680);
  const { text: denial, headers } = await chat('Say 100000 words').expect(429);
  const [, left, seconds] = /^"chat.usd";r=(\d+);t=(\d+), "chat.running";r=4$/.exec(headers.ratelimit!)!;
  expect(Number(left)).toBeLessThan(500); // an eighth of a step
  expect(headers['retry-after']).toBe(seconds);
  expect(denial).toMatch(/of axis 'usd': retry in/);
  expect(provider.calls).toHaveLength(1);
  await chat('Say 5 words', 'globex').expect(200);
  await clock.advance('31d');
  await chat('Say 5 words').expect(200);
});

test('a client that goes away pays for what was generated', async () => {
  const gone = new AbortController();
  const { port } = server.address() as { port: number };
  const response = await fetch(`http://127.0.0.1:${port}/chat`, {
    method: 'POST',
    headers: { 'X-Tenant': 'acme', 'Content-Type': 'application/json' },
    body: JSON.stringify({ prompt: 'Say 100000 words' }),
    signal: gone.signal,
  });
  await response.body!.getReader().read();
  gone.abort();
  while (provider.calls[0]?.isAborted !== true) await new Promise(setImmediate);
  expect(await left()).not.toBe('$0.010000');
});

test.each([[{}], [7], [undefined]])('answers the prompt %j with a 400', async (prompt) => {
  await chat(prompt).expect(400, 'Send a prompt, which is text\n');
});

test.each([401, 429, 500])(
  'answers a %i of the provider with a 502, which names no account',
  async (status) => {
    provider.status = status;
    await chat('Say 5 words').expect(502, 'The model cannot be called now\n');
    expect(await left()).toBe('$0.010000');
  },
);

test('answers with a 503 when the store is out', async () => {
  jest.spyOn(store, 'decide').mockImplementation(() => {
    throw new StoreUnavailableError('out');
  });
  await chat('Say 5 words').expect(503, /out\n$/);
  expect(provider.calls).toEqual([]);
});

test('a request without a tenant gets a 401', async () => {
  await supertest(server).get('/budget').expect(401);
});

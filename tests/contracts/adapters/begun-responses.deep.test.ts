import { once } from 'node:events';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { fixedWindow, RateLimiter, type RedisStore, redisStore } from '@sluice/core';
import { freePort } from '../../support/redis/free-port.js';
import { within } from '../../support/within.js';
import type { Limit, Running, Service } from './frameworks/framework.js';
import { frameworks } from './on-each-framework.js';

// A response that was already started cannot become a 429, but a denial must not leave it open.

const policy = fixedWindow({ limit: 1, window: '1h' });
const PASSED = { status: 200, text: 'begun, done', complete: true };
const DENIED = { status: 200, text: 'begun', complete: true };

let running: Running | undefined;
let store: RedisStore;

beforeAll(async () => {
  store = redisStore(`redis://127.0.0.1:${await freePort()}`);
});
afterAll(() => store.close());
afterEach(async () => {
  await running?.close();
  running = undefined;
});

/** What a client receives for one request: a whole response or a broken one. */
async function received(): Promise<{ status: number; text: string; complete: boolean }> {
  const [response] = (await once(get(running!.url), 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  response.on('error', () => {}); // the error of a broken response
  await within(new Promise((resolve) => response.once('close', resolve)), 'the response ends');
  return { status: response.statusCode!, text, complete: response.complete };
}

const begin = (raw: ServerResponse, headers?: Record<string, number>) =>
  void raw.writeHead(200, headers).write('begun');

const handler: Service['handler'] = (_decision, { raw, takeOver }) => {
  takeOver();
  raw.end(', done');
};

const servers = frameworks.flatMap(({ name, serve, variants }) =>
  Object.entries({ [name]: serve, ...variants }),
);

describe.each(servers)('a response that code before the limit started, %s', (_, serve) => {
  test('ends when the limit denies the request', async () => {
    running = await serve({ before: begin, limits: [{ policy }], handler });
    expect(await received()).toEqual(PASSED);
    expect(await received()).toEqual(DENIED);
  });

  test('is broken off if it cannot reach its announced length', async () => {
    running = await serve({
      before: (raw) => begin(raw, { 'Content-Length': 11 }),
      limits: [{ policy }],
      handler,
    });
    expect(await received()).toEqual(PASSED);
    expect(await received()).toEqual({ ...DENIED, complete: false });
  });

  test.each<[string, () => Limit]>([
    ['a key is missing', () => ({ policy, key: '#{user.id}', validate: false })],
    ['the address is on the denyList', () => ({ policy, denyList: ['127.0.0.1'] })],
    ['the store is out', () => ({ policy, name: 'begun', failurePolicy: 'deny', store })],
    ['a denial is thrown', () => ({ policy, cost: 2, throw: true })],
  ])('ends when %s', async (_, limit) => {
    running = await serve({ before: begin, limits: [limit()], handler });
    expect(await received()).toEqual(DENIED);
  });
});

describe.each(servers)('a denial that the handler throws, %s', (_, serve) => {
  const passes = fixedWindow({ limit: 99, window: '1h' });
  let limiter: RateLimiter;
  beforeEach(() => {
    limiter = new RateLimiter({ policy });
  });
  afterEach(() => limiter.close());

  test('ends the response that the handler started', async () => {
    running = await serve({
      limits: [{ policy: passes }],
      handler: async (_decision, { raw, takeOver }) => {
        begin(raw);
        await new Promise(setImmediate); // Node has sent it
        await limiter.acquire('all', { timeout: 0 });
        takeOver();
        raw.end(', done');
      },
    });
    expect(await received()).toEqual(PASSED);
    expect((await received()).text).toBe('begun');
  });

  test('ends the response that code before the limit started', async () => {
    running = await serve({
      before: begin,
      limits: [{ policy: passes }],
      handler: async (_decision, { raw, takeOver }) => {
        await limiter.acquire('all', { timeout: 0 });
        takeOver();
        raw.end(', done');
      },
    });
    expect(await received()).toEqual(PASSED);
    expect((await received()).text).toBe('begun');
  });
});

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  CombinedLimiter,
  concurrency,
  fixedWindow,
  isStoreConfigurationError,
  isStoreUnavailableError,
  RateLimiter,
  type RateLimiterOptions,
  slidingWindow,
} from '@sluice/core';
import { Redis } from 'ioredis';
import { eventually } from '../../../tests/support/eventually.js';
import { freePort } from '../../../tests/support/redis/free-port.js';
import { startRedis } from '../../../tests/support/redis/redis-server.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { rejection } from '../../../tests/support/rejection.js';
import { UPSTASH_TOKEN, UpstashDouble } from '../../../tests/support/upstash.js';
import { type UpstashStore, type UpstashStoreOptions, upstashStore } from './index.js';

const policy = fixedWindow({ limit: 3, window: '1h' });

let double: UpstashDouble;
let opened: { close(): unknown }[] = [];
beforeAll(async () => {
  double = await UpstashDouble.start(redisUrl());
});
afterAll(() => double.stop());
beforeEach(() => {
  double.requests.length = 0;
  double.intercept = undefined;
  opened = [];
});
afterEach(async () => {
  for (const one of opened.reverse()) await one.close();
});

function storeOf(options: UpstashStoreOptions = {}): UpstashStore {
  const store = upstashStore({ url: double.url, token: UPSTASH_TOKEN, ...options });
  store.on('degraded', () => {}).on('storeError', () => {});
  opened.push(store);
  return store;
}

function limiterOf(store: UpstashStore, options: Partial<RateLimiterOptions> = {}): RateLimiter {
  const name = uniqueName('upstash');
  const limiter = new RateLimiter({ name, policy, store, deadline: '20s', ...options } as RateLimiterOptions);
  opened.push(limiter);
  return limiter;
}

/** What one decision fails with when the API answers so. */
async function failureOf(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  options: Partial<RateLimiterOptions> = {},
): Promise<unknown> {
  double.intercept = (request, response) => {
    answer(request, response);
    return true;
  };
  return rejection(limiterOf(storeOf(), options).reset('ann')); // no failure policy decides a reset
}

const replying = (status: number, body: string) => (_: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(status).end(body);

test('decides over HTTP, and one process counts with another', async () => {
  const one = limiterOf(storeOf(), { denyCache: '1h' });
  const other = limiterOf(storeOf(), { name: one.name });
  expect(await one.consume('ann')).toMatchObject({ allowed: true, remaining: 2, degraded: false });
  expect(await other.consume('ann')).toMatchObject({ allowed: true, remaining: 1 });
  expect(await one.consume('ann', { cost: 2 })).toMatchObject({ allowed: false });
  expect(await one.consume('ann', { cost: 2 })).toMatchObject({ allowed: false, source: 'deny-cache' });
});

test('the calls of one turn are one request, and a call alone is one request with one command', async () => {
  const store = storeOf();
  await store.connect();
  double.requests.length = 0;
  const limiter = limiterOf(store, { policy: slidingWindow({ limit: 100, window: '1h' }) });
  await limiter.consume('ann');
  expect(double.requests).toEqual([['EVALSHA']]);
  double.requests.length = 0;
  const both = new CombinedLimiter({ one: limiterOf(store), other: limiterOf(store) });
  const keys = Array.from({ length: 60 }, (_, i) => `client ${i}`);
  await Promise.all([both.consume({ one: 'ann', other: 'ann' }), ...keys.map((key) => limiter.consume(key))]);
  expect(double.requests).toHaveLength(1);
  expect(double.requests[0]!.length).toBeLessThan(10);
});

test('a decision costs Redis four commands, and a denial three', async () => {
  const server = await startRedis();
  const own = await UpstashDouble.start(server.url);
  const redis = new Redis(server.url);
  try {
    const limiter = limiterOf(storeOf({ url: own.url }), { denyCache: false });
    await limiter.consume('bob'); // sends the script
    await redis.config('RESETSTAT');
    for (let i = 0; i < 4; i += 1) await limiter.consume('ann');
    const stats = await redis.info('commandstats');
    const counts = [...stats.matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)].map(([, name, calls]) => [
      name,
      Number(calls),
    ]);
    const { evalsha, time, get, set = 0, setrange = 0 } = Object.fromEntries(counts);
    expect([evalsha, time, get, set + setrange]).toEqual([4, 4, 4, 3]);
  } finally {
    redis.disconnect();
    await own.stop();
    await server.stop();
  }
});

test('sends the script again after Redis has forgotten it', async () => {
  const limiter = limiterOf(storeOf());
  let forgotten = false;
  double.intercept = (_, response) => {
    if (forgotten) return false;
    forgotten = true;
    response.end(JSON.stringify([{ error: 'NOSCRIPT No matching script. Please use EVAL.' }]));
    return true;
  };
  expect(await limiter.consume('ann')).toMatchObject({ remaining: 2, degraded: false });
  expect(double.requests).toEqual([['EVAL']]);
});

test('a waiting call polls, and gets the permit that another process gives back', async () => {
  const held = { policy: concurrency({ limit: 1, lease: '1m' }) };
  const one = limiterOf(storeOf(), held);
  const other = limiterOf(storeOf(), { ...held, name: one.name });
  const first = await one.acquire('job');
  const second = other.acquire('job', { timeout: '1m' });
  await eventually(async () => double.requests.length > 2);
  await one.release(first);
  expect(await second).toMatchObject({ allowed: true });
  await other.release(await second);
});

test('a waitUntil that throws outside a request does not keep a call from its answer', async () => {
  const waitUntil = () => {
    throw new Error('`after` was called outside a request scope');
  };
  expect(await limiterOf(storeOf({ waitUntil })).consume('ann')).toMatchObject({ degraded: false });
});

test('waitUntil gets each request, and fetch sends it', async () => {
  const waited: Promise<void>[] = [];
  const urls: string[] = [];
  const store = storeOf({
    waitUntil: (request) => void waited.push(request),
    fetch: (url, init) => {
      urls.push(url);
      return fetch(url, init);
    },
  });
  await limiterOf(store).consume('ann');
  expect(urls).toEqual(Array(waited.length).fill(`${double.url}/pipeline`));
  expect(await Promise.all(waited)).toEqual(Array(waited.length).fill(undefined));
});

test('a deadline of many days gives requests that time, too', async () => {
  const store = storeOf({
    fetch: async (url, init) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return fetch(url, init);
    },
  });
  const limiter = limiterOf(store, { deadline: '10d' });
  expect(await limiter.consume('ann')).toMatchObject({ allowed: true, degraded: false });
});

describe('an outage, which the failure policy decides', () => {
  test.each<[string, number, string, string, boolean, RegExp]>([
    [
      'a wrong token',
      401,
      '{"error":"WRONGPASS invalid or missing auth token"}',
      'WRONGPASS',
      true,
      /UPSTASH_REDIS_REST_TOKEN/,
    ],
    ['a forbidden request', 403, 'Forbidden', 'WRONGPASS', true, /the token is refused.*403: Forbidden/],
    ['too many requests', 429, '{"error":"too many"}', 'connection', true, /status 429: too many/],
    [
      'a used-up plan',
      400,
      '{"error":"ERR max daily request limit exceeded. Limit: 10000"}',
      'connection',
      false,
      /daily request limit/,
    ],
    [
      'a used-up month',
      400,
      '{"error":"ERR max requests limit exceeded."}',
      'connection',
      false,
      /max requests limit/,
    ],
    ['a full database', 200, '[{"error":"ERR DB capacity quota exceeded"}]', 'OOM', false, /capacity quota/],
    ['a broken API', 502, '<html>Bad gateway</html>', 'connection', false, /status 502: <html>/],
    ['a redirection', 307, '', 'connection', false, /status 307/],
    [
      'a page of a proxy',
      200,
      `<html>${'x'.repeat(200)}</html>`,
      'connection',
      false,
      /none of Upstash's REST API \(200: <html>x{94}…\)/,
    ],
    ['an answer with too few replies', 200, '[]', 'connection', false, /none of Upstash's/],
  ])('%s', async (_, status, body, reason, neverSent, message) => {
    const error = await failureOf(replying(status, body));
    expect(isStoreUnavailableError(error)).toBe(true);
    expect(error).toMatchObject({ reason, neverSent, message: expect.stringMatching(message) });
    expect(JSON.stringify([error, String((error as Error).stack)])).not.toContain(UPSTASH_TOKEN);
    expect(await limiterOf(storeOf(), { failurePolicy: 'allow' }).consume('ann')).toMatchObject({
      allowed: true,
      degraded: true,
    });
  });

  test('the warning names upstashStore', async () => {
    const emitted = jest.spyOn(process, 'emitWarning').mockImplementation();
    try {
      double.intercept = (request, response) => {
        replying(401, '{"error":"WRONGPASS invalid or missing auth token"}')(request, response);
        return true;
      };
      const store = upstashStore({ url: double.url, token: UPSTASH_TOKEN }); // nothing listens to its events
      opened.push(store);
      await limiterOf(store, { failurePolicy: 'allow' }).consume('ann');
      expect(emitted.mock.calls.map(([message]) => message)).toEqual([
        expect.stringMatching(/^upstashStore: http:\S+ is out: the token is refused: give upstashStore /),
      ]);
    } finally {
      emitted.mockRestore();
    }
  });

  test('an answer that is cut off', async () => {
    const error = await failureOf((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('[{"res');
      setImmediate(() => response.destroy());
    });
    expect(error).toMatchObject({ reason: 'connection', neverSent: false });
  });

  test('no answer within the deadline', async () => {
    const error = await failureOf(() => {}, { deadline: '50ms' });
    expect(error).toMatchObject({ reason: 'timeout', late: true, neverSent: false });
  });

  test('a server that is not there: the call was never sent', async () => {
    const store = storeOf({ url: `http://127.0.0.1:${await freePort()}` });
    const error = await rejection(limiterOf(store).reset('ann'));
    expect(error).toMatchObject({ reason: 'connection', neverSent: true });
    expect(error).toMatchObject({ message: expect.stringContaining('ECONNREFUSED') });
  });

  test('close() answers the calls of this turn, and then ends requests that no call waits for', async () => {
    const store = storeOf();
    const [limiter, patient] = [limiterOf(store, { deadline: '300ms' }), limiterOf(store)];
    await limiter.consume('ann');
    const request = new Promise<ServerResponse>((resolve) => {
      double.intercept = (_, response) => {
        double.intercept = undefined;
        resolve(response);
        return true;
      };
    });
    const failed = rejection(limiter.reset('ann'));
    const ended = once(await request, 'close');
    const peeked = patient.peek('ann');
    await store.close();
    expect(await failed).toMatchObject({ reason: 'timeout', neverSent: false });
    expect(await peeked).toMatchObject({ allowed: true, degraded: false });
    await ended;
  });
});

test('errors of scripts are those of core: a foreign value is a mistake, which no failure policy covers', async () => {
  const error = await failureOf(
    replying(
      200,
      JSON.stringify([{ error: 'WRONGTYPE Operation against a key holding the wrong kind of value' }]),
    ),
  );
  expect(isStoreConfigurationError(error) && error.message).toMatch(/^upstashStore: WRONGTYPE/);
});

test('errors of core begin with the name of this store', async () => {
  const store = storeOf();
  const limiter = limiterOf(store);
  const raw = new Redis(redisUrl());
  await raw.set(`sluice:v2:fw:${limiter.name}:{ann}`, 'no entry', 'EX', 60);
  raw.disconnect();
  const foreign = await rejection(limiter.consume('ann'));
  expect((foreign as Error).message).toMatch(/^upstashStore: a key of this limit holds a foreign value/);
  await store.close();
  const closed = await rejection(store.connect());
  expect((closed as Error).message).toBe('upstashStore: it was closed');
});

test('following other processes is refused with the reason', async () => {
  const store = storeOf();
  const lost = new Promise((resolve) => {
    opened.push({ close: store.fleet.follow({ received: () => {}, lost: resolve, resumed: () => {} }) });
  });
  expect(await lost).toMatchObject({ message: expect.stringMatching(/REST does not have.*redisStore/) });
});

describe('construction', () => {
  test.each<[UpstashStoreOptions | unknown, RegExp]>([
    [{ url: 'redis://x.upstash.io:6379', token: 't' }, /address of Redis.*or use redisStore/],
    [{ url: 'http://x.upstash.io', token: 't' }, /must begin with https:\/\//],
    [{ url: 'https://u:secret@x.upstash.io', token: 't' }, /pass the token as token/],
    [{ url: 'https://x.upstash.io?_token=secret', token: 't' }, /pass the token as token/],
    [{ url: 'nowhere', token: 't' }, /address of the REST API/],
    [{ url: 5, token: 't' }, /not 5/],
    [{ url: 'https://x.upstash.io', token: '' }, /an empty text/],
    [{ url: 'https://x.upstash.io', token: 'se cret' }, /without spaces, not another text/],
    [{ url: 'https://x.upstash.io', token: 't', fetch: 'x' }, /fetch must be a function/],
    [{ url: 'https://x.upstash.io', token: 't', waitUntil: 1 }, /waitUntil must be a function/],
    [{ url: 'https://x.upstash.io', token: 't', definitions: 1 }, /definitions/],
    [{ uri: 'https://x.upstash.io' }, /did you mean 'url'/],
    [{}, /UPSTASH_REDIS_REST_URL is not set/],
    [{ url: 'https://x.upstash.io' }, /UPSTASH_REDIS_REST_TOKEN is not set/],
  ])('refuses %p', (options, message) => {
    expect(() => upstashStore(options as UpstashStoreOptions)).toThrow(message);
    expect(() => upstashStore(options as UpstashStoreOptions)).not.toThrow(/secret|se cret/);
  });

  test('reads the environment', async () => {
    process.env.UPSTASH_REDIS_REST_URL = `${double.url}/`;
    process.env.UPSTASH_REDIS_REST_TOKEN = UPSTASH_TOKEN;
    try {
      const store = upstashStore();
      opened.push(store);
      expect(await limiterOf(store).consume('ann')).toMatchObject({ remaining: 2, degraded: false });
    } finally {
      delete process.env.UPSTASH_REDIS_REST_URL;
      delete process.env.UPSTASH_REDIS_REST_TOKEN;
    }
  });
});

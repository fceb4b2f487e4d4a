import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { ipKeyGenerator as theirKey, rateLimit as theirs } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import { parseList } from 'structured-headers';
import supertest from 'supertest';
import type { RedisStore } from '../../../packages/core/src/index.js';
import { ipKeyGenerator, type Options, rateLimit as ours } from '../../../packages/express/src/index.js';
import { uniqueName } from '../../support/redis-url.js';
import { evaluate, SIDES, type Side } from './page.js';

const PAGE = 'express-rate-limit';
const ADDRESSES = ['2001:db8::1', '2001:db8:0:ff::1', '2001:db8:0:100::1'];

/** Items without the elapsing time (`t`) and without `pk`, which only theirs sends. */
const items = (text = '') =>
  parseList(text).map(([identifier, parameters]) => {
    const { t, pk, ...rest } = Object.fromEntries(parameters);
    return [identifier, rest];
  });

async function program(side: Side) {
  const { app } = await evaluate<{ app: Express }>(PAGE, side, require, ['app']);
  app.set('trust proxy', 'loopback');
  const client = supertest(app);
  const seen = [];
  for (const [at, password] of ['secret', ...Array(7).fill('guess')].entries()) {
    const { status, body, headers } = await client
      .post('/login')
      .set('X-Forwarded-For', ADDRESSES[at % 2]!)
      .send({ email: 'ann@example.com', password });
    seen.push({
      status,
      body,
      policies: items(headers['ratelimit-policy']).at(-1),
      limits: items(headers.ratelimit).at(-1),
      retry: 'retry-after' in headers,
    });
  }
  const other = await client.get('/none').set('X-Forwarded-For', ADDRESSES[2]!).expect(404);
  return { seen, other: [items(other.headers['ratelimit-policy']), items(other.headers.ratelimit)] };
}

test('with only the import changed clients get the same statuses, bodies, limits and counts', async () => {
  const [before, after] = await Promise.all(SIDES.map(program));
  expect(after).toEqual(before);
  expect(after!.seen.map(({ status }) => status)).toEqual([200, 401, 401, 401, 401, 401, 429, 429]);
});

const ok: RequestHandler = ({ rateLimit: info }, response) => void response.json(info?.used);

test.each(SIDES)('in Redis clients get the statuses and headers of the page, %s', async (side) => {
  type Values = { limit: RequestHandler; client: Redis; store: RedisStore };
  const names = side === 'Before' ? (['limit', 'client'] as const) : (['limit', 'store'] as const);
  const replace = { "'search'": `'${uniqueName('search')}'` };
  const { limit, client, store } = await evaluate<Values>(PAGE, side, require, names, 'in Redis', replace);
  const agent = supertest(express().use(limit, ok));
  const answers = [];
  for (let at = 0; at < 4; at += 1) {
    const { status, headers } = await agent.get('/');
    answers.push([status, headers.ratelimit?.replace(/\d+$/, '…'), headers['ratelimit-policy']]);
  }
  client?.disconnect();
  await store?.close();
  expect(answers).toEqual([
    [200, 'limit=2, remaining=1, reset=…', '2;w=60'],
    [200, 'limit=2, remaining=0, reset=…', '2;w=60'],
    [429, 'limit=2, remaining=0, reset=…', '2;w=60'],
    [429, 'limit=2, remaining=0, reset=…', '2;w=60'],
  ]);
});

/** The answers to three requests of one client at a limit of one request. */
async function three(limit: RequestHandler) {
  const app = express().use(limit, ok);
  const failed: ErrorRequestHandler = (_error, _request, response, _next) => void response.sendStatus(500);
  const agent = supertest(app.use(failed));
  return [await agent.get('/'), await agent.get('/'), await agent.get('/')];
}

test('with the defaults written out clients get the same answers', async () => {
  const { asBefore } = await evaluate<{ asBefore: Partial<Options> }>(
    PAGE,
    'With Sluice',
    require,
    ['asBefore'],
    'as before',
  );
  const seen = async (limit: RequestHandler, addresses: readonly string[]) => {
    const app = express().use(limit, ok);
    app.set('trust proxy', 'loopback');
    const answers = [];
    for (const address of addresses) {
      const { status, text, headers } = await supertest(app).get('/').set('X-Forwarded-For', address);
      const limits = Object.entries(headers).filter(([name]) => /ratelimit|retry/.test(name));
      answers.push([status, text, limits.map(([name, value]) => [name, /reset|retry/.test(name) || value])]);
    }
    return answers;
  };
  const addresses = ['192.0.2.7', ...Array(6).fill(ADDRESSES[0]), ADDRESSES[1]!, ADDRESSES[2]!];
  const before = await seen(theirs(), addresses);
  expect(await seen(ours(asBefore), addresses)).toEqual(before);
  expect(before.map(([status]) => status)).toEqual([200, 200, 200, 200, 200, 200, 429, 429, 200]);
});

describe('differences that the page names', () => {
  type Answer = supertest.Response;
  test.each<[string, Partial<Options>, (answers: Answer[]) => unknown, unknown, unknown]>([
    [
      'a denied request takes nothing',
      { handler: (request, response) => void response.json(request.rateLimit?.used) },
      (answers) => answers.map(({ body }) => body),
      [1, 2, 3],
      [1, 2, 2],
    ],
    [
      'Retry-After without header options',
      { standardHeaders: false, legacyHeaders: false },
      ([, denied]) => 'retry-after' in denied!.headers,
      false,
      true,
    ],
    [
      'the default headers',
      {},
      ([first]) => ['ratelimit', 'x-ratelimit-limit'].map((name) => name in first!.headers),
      [false, true],
      [true, false],
    ],
    [
      'the default name',
      { standardHeaders: 'draft-8' },
      ([first]) => items(first!.headers['ratelimit-policy'])[0]![0],
      '1-in-1min',
      'default',
    ],
    [
      'pk',
      { standardHeaders: 'draft-8' },
      ([first]) => first!.headers['ratelimit-policy']?.includes('pk='),
      true,
      false,
    ],
    [
      'the type of a text message',
      { message: 'Later' },
      ([, denied]) => denied!.type,
      'text/html',
      'text/plain',
    ],
    [
      'the default body',
      {},
      ([, denied]) => denied!.body.status ?? denied!.text,
      'Too many requests, please try again later.',
      429,
    ],
    [
      'requests without a key',
      { keyGenerator: () => undefined as never, validate: false },
      (answers) => answers.map(({ status }) => status),
      [200, 429, 429],
      [500, 500, 500],
    ],
  ])('%s', async (_, options, read, before, after) => {
    const all = { windowMs: 60_000, limit: 1, ...options };
    expect(read(await three(theirs(all as never)))).toEqual(before);
    expect(read(await three(ours(all as Options)))).toEqual(after);
  });

  test('ours has no default limit, and rejects unknown options', () => {
    expect(() => theirs({ validate: false })).not.toThrow();
    expect(() => ours({})).toThrow('rateLimit needs a policy');
    expect(() => theirs({ windowsMs: 1, validate: false } as never)).not.toThrow();
    expect(() => ours({ limit: 1, windowsMs: 1 } as never)).toThrow("rateLimit has no option 'windowsMs'");
  });

  test('ours throws for a text that is no address', () => {
    expect(() => ipKeyGenerator('unknown')).toThrow();
    expect(theirKey('unknown')).toBe('unknown');
  });
});

import express from 'express';
import supertest from 'supertest';
import { type RateLimitOptions, rateLimit } from './index.js';

const serving = (options: RateLimitOptions) => {
  const app = express();
  app.get('/', rateLimit(options), ({ rateLimit: decision }, response) => {
    response.json({ used: decision!.used, current: decision!.current, resetTime: decision!.resetTime });
  });
  return supertest(app);
};

test('the decision on a request has used, current and resetTime, also in a denial', async () => {
  const soon = Date.now() + 60_000;
  const client = serving({
    windowMs: 60_000,
    limit: 2,
    message: ({ rateLimit: decision }) => ({
      used: decision!.used,
      current: decision!.current,
      resetTime: decision!.resetTime,
    }),
  });
  for (const [status, used] of [
    [200, 1],
    [200, 2],
    [429, 3],
    [429, 3],
  ]) {
    const { body } = await client.get('/').expect(status!);
    expect([body.used, body.current]).toEqual([used, used]);
    const ends = Date.parse(body.resetTime);
    expect(ends).toBeGreaterThan(soon - 60_000);
    expect(ends).toBeLessThanOrEqual(Date.now() + 60_000);
  }
});

test('a handler receives statusCode and message in its fourth argument', async () => {
  const client = serving({
    limit: 1,
    statusCode: 420,
    handler: (_request, response, _next, { statusCode, message, remaining }) =>
      response.status(statusCode).send(`${message} ${remaining} left`),
  });
  await client.get('/').expect(200);
  await client.get('/').expect(420, 'Too many requests, please try again later. 0 left');
  const standard = serving({
    limit: 0,
    handler: (_q, response, _n, decision) => response.json(decision.statusCode),
  });
  await standard.get('/').expect(200, '429');
});

test.each<[unknown, string]>([
  [
    { limit: 1, passOnStoreError: true },
    "rateLimit has no option 'passOnStoreError': pass failurePolicy: 'allow'",
  ],
  [
    { limit: 1, passOnStoreError: false },
    "rateLimit has no option 'passOnStoreError': pass failurePolicy: 'allow'",
  ],
  [{ limit: 1, logger: {} }, "rateLimit has no option 'logger': listen to process.on('warning', …)"],
  [{ limit: 1, headers: false }, "rateLimit has no option 'headers': pass legacyHeaders"],
  [
    { limit: 1, draft_polli_ratelimit_headers: true },
    "'draft_polli_ratelimit_headers': pass standardHeaders",
  ],
  [{ limit: 1, onLimitReached: () => {} }, "rateLimit has no option 'onLimitReached': pass onLimited"],
  [
    { limit: 1, validate: { trustProxy: false } },
    'rateLimit: validate must be true or false, not an object: to silence',
  ],
  [
    { limit: 1, message: 'no', handler: () => {} },
    'message has no effect with handler, which sends the response',
  ],
  [
    { limit: 1, store: { increment() {}, decrement() {}, resetKey() {} } },
    'rateLimit: store is a store of express-rate-limit. Pass store: redisStore(client) and a name',
  ],
  [{ limit: 1, store: {} }, 'store must be memoryStore() or redisStore(…)'],
  [{ limit: 1, timeWindow: 60_000 }, "rateLimit has no option 'timeWindow': pass windowMs"],
  [{ delayAfter: 5 }, "rateLimit has no option 'delayAfter': pass timeout"],
  [{ limit: '100' }, 'limit must be a whole number'],
  [{ limit: 1, windowMs: '900000' }, 'window must be a duration'],
  [{ limit: 1, windowMS: 900_000 }, "rateLimit has no option 'windowMS'; did you mean 'windowMs'?"],
  [{}, 'rateLimit needs a policy'],
  [undefined, 'rateLimit needs a policy'],
])('the options %j are refused, and the error names the remedy', (options, message) => {
  expect(() => rateLimit(options as RateLimitOptions)).toThrow(message);
});

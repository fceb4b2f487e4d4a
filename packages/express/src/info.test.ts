import { inspect } from 'node:util';
import { type Decision, fixedWindow, memoryStore, RateLimiter } from '@sluice/core';
import { decisionOf } from '@sluice/core/internal';
import express, { type Request } from 'express';
import supertest from 'supertest';
import { type RateLimitOptions, rateLimit } from './index.js';

const policy = fixedWindow({ limit: 1, window: '1m' });
const byMethod = { limitType: 'METHOD' } as const;

/** Sends one request through the limit. */
async function through(options: RateLimitOptions) {
  const limit = rateLimit(options);
  let request: Request | undefined;
  const app = express().get('/', limit, (own, response) => {
    request = own;
    response.json(own.rateLimit);
  });
  const { body } = await supertest(app).get('/');
  return { limit, body, info: request!.rateLimit! };
}

test('the request and all functions get one object, and the decision stays as it was', async () => {
  const seen: object[] = [];
  const app = express().get(
    '/',
    rateLimit({
      limit: 0,
      onLimited: ({ rateLimit: info }, _response, decision) => void seen.push(info!, decision),
      handler: (_request, response, _next, denial) => {
        seen.push(denial);
        response.json(denial);
      },
    }),
  );
  const { body } = await supertest(app).get('/');
  expect(body).toMatchObject({ used: 1, current: 1, statusCode: 429, policies: [{ name: 'default' }] });
  const [info] = seen as [Decision];
  for (const one of seen) expect(one).toBe(info);
  const decision = decisionOf(info);
  expect(decision).not.toBe(info);
  expect(info).toMatchObject({ ...decision, policies: decision.policies, moreAfter: decision.moreAfter });
  for (const name of ['used', 'current', 'resetTime', 'statusCode', 'message'])
    expect(decision).not.toHaveProperty(name);
});

test('a copy and JSON of the decision on a request have its numbers', async () => {
  const { info, body } = await through({ policy });
  const numbers = { allowed: true, name: 'default', limit: 1, remaining: 0, used: 1, current: 1 };
  expect({ ...info }).toMatchObject({ ...numbers, resetTime: info.resetTime });
  expect(body).toMatchObject({
    ...numbers,
    resetTime: info.resetTime.toJSON(),
    moreAfter: info.moreAfter,
    policies: [{ name: 'default', remaining: 0 }],
  });
});

test('console.log shows the numbers of the decision on a request', async () => {
  const { info } = await through({ policy });
  expect(inspect(info)).toMatch(/remaining: 0,.*used: 1,.*policies: \[/s);
});

test.each<[string, RateLimitOptions]>([
  ['a policy', { policy }],
  ['a policy for each request', { policy: () => policy, name: 'each', store: memoryStore() }],
])('refund takes the decision of a request back, with %s', async (_, options) => {
  const { limit, info } = await through({ ...options, ...byMethod });
  const client = supertest(express().get('/', limit, (_request, response) => void response.send('')));
  await client.get('/').expect(429);
  await limit.refund(info);
  await limit.refund(info); // returns nothing twice
  await client.get('/').expect(200);
  await client.get('/').expect(429);
});

test("refund and release of a program's own limiter take the decision of a request", async () => {
  const limiter = new RateLimiter({ policy });
  const { info } = await through({ limiter, ...byMethod });
  await limiter.release(info); // a fixed window holds nothing
  expect((await limiter.peek('all')).remaining).toBe(0);
  await limiter.refund(info);
  expect((await limiter.peek('all')).remaining).toBe(1);
});

import assert from 'node:assert/strict';
import {
  type Decision,
  fixedWindow,
  isRateLimitExceededError,
  RateLimiter,
  type Store,
  tokenBucket,
} from '@sluice/core';
import { CountLimit, LimitType, RateLimit } from '@sluice/decorators';
import expressDefault, {
  rateLimit as expressLimit,
  ipKeyGenerator,
  type Options,
  type RateLimitMiddleware,
  type RateLimitRequestHandler,
} from '@sluice/express';
import fastifyPlugin from '@sluice/fastify';
import { rateLimit as fetchLimit } from '@sluice/fetch';
import { rateLimit as koaLimit } from '@sluice/koa';
import { RateLimitGuard, type SluiceModuleOptions } from '@sluice/nestjs';
import { type InstrumentOptions, instrument, type Telemetry } from '@sluice/otel';
import { parseRules, Rules, type RulesDecision, type RulesDocument } from '@sluice/rules';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';

class Sms {
  @CountLimit({ key: '#{phone}', limitType: LimitType.CUSTOM, period: 60 })
  async send(phone: string): Promise<string> {
    return `sent to ${phone}`;
  }

  @RateLimit({ rate: 0.001, limitType: 'METHOD' })
  async ping(): Promise<'pong'> {
    return 'pong';
  }

  // @ts-expect-error a limit may need Redis: only async methods can be limited
  @CountLimit()
  wrong(): number {
    return 1;
  }
}

const sms = new Sms();
assert.equal(await sms.send('1'), 'sent to 1');
await assert.rejects(sms.send('1'), isRateLimitExceededError);
const pong: 'pong' = await sms.ping();
assert.equal(pong, 'pong');

const policy = fixedWindow({ limit: 1, window: '1h' });
const limiter = new RateLimiter({ name: 'typed', policy });
const decision: Decision = await limiter.consume('k', { cost: 1 });
assert.deepEqual([decision.allowed, decision.remaining], [true, 0]);

// @ts-expect-error a misspelt option
const misspelt: () => unknown = () => tokenBucket({ capacity: 1, refil: 1, every: '1h' });
assert.throws(misspelt, TypeError);
const store: Partial<Store> = {};
// @ts-expect-error not a store
assert.throws(() => new RateLimiter({ name: 'x', policy, store }), TypeError);

const middleware: RateLimitMiddleware = expressLimit({
  policy,
  keyGenerator: (request) => request.get('x-tenant') ?? 'none',
});
// Code written for express-rate-limit.
const former: Partial<Options> = {
  windowMs: 60_000,
  limit: 5,
  keyGenerator: (request) => ipKeyGenerator(request.ip, 64),
  handler: (_request, response, _next, { statusCode, message }) =>
    void response.status(statusCode).send(message),
};
const drop: RateLimitRequestHandler = expressDefault(former);
assert.equal(typeof drop.resetKey, 'function');
const app = express().get('/', middleware, (request, response) => {
  response.send(String(request.rateLimit?.remaining));
});
assert.equal(typeof app, 'function');
new Koa().use(koaLimit({ policy, skip: (context) => context.path === '/health' }));

const web = fetchLimit({ policy, keyGenerator: (request, { user }) => `${request.method} ${String(user)}` });
const denied: Response | undefined = await web(new Request('http://127.0.0.1/'), { user: 'ann' });
assert.equal(denied, undefined);
const nest: SluiceModuleOptions = { limit: { policy, skip: (context) => context.getType() !== 'http' } };
assert.equal(typeof RateLimitGuard(nest.limit!), 'function');

const ofTelemetry: InstrumentOptions = { spans: true, maxLimiters: 50 };
const telemetry = (): Telemetry => instrument(ofTelemetry);
assert.throws(telemetry, /OpenTelemetry SDK/);

const document: RulesDocument = {
  plans: { free: { perMinute: 1 } },
  defaultPlan: 'free',
  rules: [
    { name: 'api', match: { path: '/*' }, limit: { gcra: { limit: '$plan.perMinute', period: '1m' } } },
  ],
};
// @ts-expect-error mode is one of two words
const wrong: RulesDocument = { rules: [{ name: 'api', mode: 'off' }] };
assert.throws(() => parseRules(wrong), /mode must be 'enforce' or 'shadow'/);
const rules = new Rules(parseRules(document));
const decided: RulesDecision = await rules.decide({
  ip: '192.0.2.1',
  user: undefined,
  method: 'GET',
  path: '/',
  params: {},
  query: {},
  body: undefined,
  headers: {},
});
assert.equal(decided.decision?.limit, 1);
await rules.close();

const instance = fastify();
await instance.register(fastifyPlugin);
instance.get('/none', { config: { rateLimit: false } }, async () => 'unlimited');
instance.get(
  '/',
  { preHandler: instance.rateLimit({ policy }) },
  async (request) => request.rateLimit?.limit,
);
assert.equal((await instance.inject('/')).body, '1');
assert.equal((await instance.inject('/')).statusCode, 429);
await instance.close();

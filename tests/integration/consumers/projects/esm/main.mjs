import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as core from '@sluice/core';
import { fixedWindow, isRateLimitExceededError, RateLimiter, redisStore, tokenBucket } from '@sluice/core';
import { CountLimit, configureSluice, LimitType, RateLimit } from '@sluice/decorators';
import expressDefault, { rateLimit as expressLimit, ipKeyGenerator, requestContext } from '@sluice/express';
import fastifyPlugin, { rateLimit as fastifyLimit } from '@sluice/fastify';
import { rateLimit as fetchLimit } from '@sluice/fetch';
import { requestContext as koaContext, rateLimit as koaLimit } from '@sluice/koa';
import { RateLimitGuard, SluiceModule } from '@sluice/nestjs';
import { instrument } from '@sluice/otel';
import { isRulesError, parseRules, Rules } from '@sluice/rules';
import schema from '@sluice/rules/schema.json' with { type: 'json' };
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';

// A class keeps its name in the bundle: errors and logs show it.
for (const [name, exported] of Object.entries(core)) {
  if (/^[A-Z]/.test(name) && typeof exported === 'function') assert.equal(exported.name, name);
}

const { cache } = createRequire(import.meta.url);
const isLoaded = (name) => Object.keys(cache).some((file) => file.includes(`node_modules/${name}/`));
assert.equal(isLoaded('jsonpath-plus'), false);
expressLimit({ policy: fixedWindow({ limit: 1, window: '1h' }), key: '#{body.items[*].id}' });
assert.equal(isLoaded('jsonpath-plus'), true);

const policy = fixedWindow({ limit: 1, window: '1h' });

const limiter = new RateLimiter({ policy: tokenBucket({ capacity: 2, refill: 1, every: '1h' }) });
assert.equal((await limiter.consume('k')).allowed, true);
await limiter.acquire('k');
await assert.rejects(limiter.acquire('k', { timeout: 0 }), isRateLimitExceededError);
// ioredis is found where it is installed, and loads only when needed.
const store = redisStore('redis://127.0.0.1:1');
const nowhere = new RateLimiter({ name: 'nowhere', policy, failurePolicy: 'deny', store, deadline: '5s' });
assert.equal((await nowhere.consume('k')).source, 'deny');
await assert.rejects(
  nowhere.acquire('k'),
  ({ code, cause }) => code === 'SLUICE_STORE_UNAVAILABLE' && /ECONNREFUSED/.test(cause.message),
);
await store.close(); // and then nothing keeps this process from ending

// Decorators by hand: plain JavaScript has no syntax for them.
class Sms {
  async send(phone) {
    return `sent to ${phone}`;
  }
  async ping() {
    return 'pong';
  }
}
function decorate(name, decorator) {
  const descriptor = Object.getOwnPropertyDescriptor(Sms.prototype, name);
  Object.defineProperty(Sms.prototype, name, decorator(Sms.prototype, name, descriptor));
}
configureSluice();
decorate('send', CountLimit({ key: '#{phone}', limitType: LimitType.CUSTOM, period: 60 }));
decorate('ping', RateLimit({ rate: 1 / 3600 }));
const sms = new Sms();
assert.equal(await sms.send('1'), 'sent to 1');
assert.equal(await sms.send('2'), 'sent to 2');
await assert.rejects(sms.send('1'), isRateLimitExceededError);
assert.equal(await sms.ping(), 'pong');
await assert.rejects(sms.ping(), { status: 429 });

async function statusesOf(server) {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  const first = await fetch(url);
  const second = await fetch(url);
  assert.match(second.headers.get('content-type'), /^application\/problem\+json/);
  assert.ok(Number(second.headers.get('retry-after')) > 3500);
  return [first.status, second.status];
}

// As code that was written for express-rate-limit imports it.
assert.equal(expressDefault, expressLimit);
assert.equal(ipKeyGenerator('2001:db8:0:ff::1'), '2001:db8::/56');

const app = express().use(requestContext(), expressLimit({ policy }));
app.get('/', (_request, response) => response.send('ok'));
const expressServer = app.listen(0, '127.0.0.1');
assert.deepEqual(await statusesOf(expressServer), [200, 429]);
expressServer.close();

const koa = new Koa().use(koaContext()).use(koaLimit({ policy }));
koa.use((context) => {
  context.body = 'ok';
});
const koaServer = koa.listen(0, '127.0.0.1');
assert.deepEqual(await statusesOf(koaServer), [200, 429]);
koaServer.close();

assert.equal(fastifyPlugin, fastifyLimit);
const instance = fastify();
await instance.register(fastifyPlugin, { policy });
instance.get('/', async () => 'ok');
await instance.listen({ port: 0, host: '127.0.0.1' });
assert.deepEqual(await statusesOf(instance.server), [200, 429]);
await instance.close();

const web = fetchLimit({ policy });
const request = new Request('http://127.0.0.1/');
assert.equal(await web(request, { ip: '192.0.2.1' }), undefined);
assert.equal(web.complete(request, new Response('ok')).headers.get('ratelimit'), '"default";r=0;t=3600');
assert.equal((await web(new Request(request), { ip: '192.0.2.1' })).status, 429);

assert.throws(() => instrument(), /install @opentelemetry\/sdk-metrics/);

assert.equal(typeof SluiceModule.forRoot({}).module, 'function');
assert.equal(typeof RateLimitGuard({ policy }), 'function');

const rules = new Rules(
  parseRules({ rules: [{ name: 'sms', limit: { gcra: { limit: 1, period: '1m' } } }] }),
);
assert.equal((await rules.limiter('sms').consume('k')).allowed, true);
assert.throws(
  () => parseRules('rules: [{ nam: a }]'),
  (error) => isRulesError(error) && error.name === 'RulesError',
);
assert.ok('rules' in schema.properties);
await rules.close();

const assert = require('node:assert/strict');
const core = require('@sluice/core');
const { CountLimit } = require('@sluice/decorators');
const express = require('@sluice/express');
const fastifyLimit = require('@sluice/fastify');
const web = require('@sluice/fetch');
const koa = require('@sluice/koa');
const nest = require('@sluice/nestjs');
const otel = require('@sluice/otel');
const { Rules, runTests } = require('@sluice/rules');
const schema = require('@sluice/rules/schema.json');

const isLoaded = (name) => Object.keys(require.cache).some((file) => file.includes(`node_modules/${name}/`));
assert.equal(isLoaded('jsonpath-plus'), false);
express({ policy: core.fixedWindow({ limit: 1, window: '1h' }), key: '#{body.items[*].id}' });
assert.equal(isLoaded('jsonpath-plus'), true);

const policy = core.fixedWindow({ limit: 1, window: '1h' });

class Greeter {
  async greet() {
    return 'hello';
  }
}
const { greet } = Greeter.prototype;
const descriptor = { value: greet, writable: true, configurable: true, enumerable: false };
Object.defineProperty(Greeter.prototype, 'greet', CountLimit()(Greeter.prototype, 'greet', descriptor));

async function main() {
  assert.equal(express, express.rateLimit); // as in express-rate-limit, whose module is the function
  assert.equal(express, express.default);
  assert.equal(express.ipKeyGenerator('192.0.2.1'), '192.0.2.1');
  assert.equal(koa.default, koa.rateLimit);

  const limiter = new core.RateLimiter({ policy });
  assert.equal((await limiter.consume('k')).allowed, true);
  assert.equal((await limiter.consume('k')).allowed, false);

  // In CommonJS too, ioredis is found and loaded when it is needed.
  const store = core.redisStore('redis://127.0.0.1:1');
  const nowhere = new core.RateLimiter({
    name: 'nowhere',
    policy,
    failurePolicy: 'deny',
    store,
    deadline: '5s',
  });
  assert.equal((await nowhere.consume('k')).source, 'deny');
  await assert.rejects(
    nowhere.acquire('k'),
    ({ code, cause }) => code === 'SLUICE_STORE_UNAVAILABLE' && /ECONNREFUSED/.test(cause.message),
  );
  await store.close();

  assert.equal(await new Greeter().greet(), 'hello');
  await assert.rejects(new Greeter().greet(), core.isRateLimitExceededError);

  for (const { rateLimit, requestContext } of [express, koa]) {
    assert.ok(rateLimit({ policy }).limiter instanceof core.RateLimiter);
    assert.equal(typeof requestContext(), 'function');
  }

  assert.equal(
    await web.rateLimit({ policy })(new Request('http://127.0.0.1/'), { ip: '192.0.2.1' }),
    undefined,
  );
  assert.equal(typeof nest.SluiceModule.forRoot({}).module, 'function');

  assert.throws(() => otel.instrument(), /install @opentelemetry\/sdk-metrics/);

  const rules = new Rules({ rules: [{ name: 'sms', limit: { gcra: { limit: 1, period: '1m' } } }] });
  assert.equal((await rules.limiter('sms').consume('k')).allowed, true);
  assert.deepEqual(await runTests(rules.ruleSet), { passed: 0, failed: [] });
  assert.ok('rules' in schema.properties);
  await rules.close();

  const app = require('fastify')();
  app.register(fastifyLimit, { policy });
  app.get('/', async () => 'ok');
  assert.equal((await app.inject('/')).statusCode, 200);
  assert.equal((await app.inject('/')).statusCode, 429);
  await app.close();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

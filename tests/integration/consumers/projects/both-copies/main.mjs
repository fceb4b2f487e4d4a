// A program may load both copies of a package: its own code imports it, and a dependency requires it.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as esm from '@sluice/core';
import * as decorators from '@sluice/decorators';
import { rateLimit } from '@sluice/express';
import { runWithRequest } from '@sluice/http';
import { instrument } from '@sluice/otel';
import { isRulesError, parseRules } from '@sluice/rules';

const require = createRequire(import.meta.url);
const cjs = require('@sluice/core');
const cjsHttp = require('@sluice/http');
const cjsDecorators = require('@sluice/decorators');
assert.notEqual(esm.RateLimitExceededError, cjs.RateLimitExceededError);

const denial = async ({ RateLimiter, fixedWindow }) => {
  const limiter = new RateLimiter({ policy: fixedWindow({ limit: 1, window: '1h' }) });
  await limiter.acquire('k');
  return limiter.acquire('k', { timeout: 0 }).catch((error) => error);
};
for (const [makes, reads] of [
  [esm, cjs],
  [cjs, esm],
]) {
  const error = await denial(makes);
  assert.ok(!(error instanceof reads.RateLimitExceededError));
  assert.ok(reads.isRateLimitExceededError(error));
  assert.ok(reads.isSluiceError(error));
  assert.ok(!reads.isStoreUnavailableError(error));
  assert.ok(reads.isStoreUnavailableError(new makes.StoreUnavailableError('out')));
  assert.ok(!reads.isRateLimitExceededError(Object.assign(new Error(), { code: error.code })));
}

// A limiter of one copy serves the adapter of the other.
const limiter = new cjs.RateLimiter({ policy: cjs.fixedWindow({ limit: 1, window: '1h' }) });
assert.equal(rateLimit({ limiter }).limiter, limiter);

// A copy notices that the other one already counts.
const meter = new Proxy({}, { get: () => () => ({ record() {} }) });
const meterProvider = { getMeter: () => meter };
const cjsOtel = require('@sluice/otel');
const telemetry = instrument({ meterProvider });
assert.throws(() => cjsOtel.instrument({ meterProvider }), /already called/);
telemetry.close();
cjsOtel.instrument({ meterProvider }).close();

// Rules that one copy parsed work in the other, and errors are known in both.
const cjsRules = require('@sluice/rules');
const set = parseRules('rules: [{ name: sms, limit: { gcra: { limit: 1, period: 1m } } }]');
const cjsCopy = new cjsRules.Rules(set);
assert.equal(cjsCopy.ruleSet, set);
await cjsCopy.close();
assert.throws(() => cjsRules.parseRules('5'), isRulesError);

// The request that one copy's middleware announces is the other's current request.
const request = { ip: '192.0.2.1' };
assert.equal(
  runWithRequest(request, () => cjsHttp.currentRequest()),
  request,
);

// Both copies share one configuration: the store of one copy counts calls that the other decorated.
const store = esm.memoryStore();
decorators.configureSluice({ store });
class Greeter {
  async greet() {
    return 'hello';
  }
}
const { greet } = Greeter.prototype;
const descriptor = { value: greet, writable: true, configurable: true, enumerable: false };
const decorated = cjsDecorators.CountLimit()(Greeter.prototype, 'greet', descriptor).value;
assert.equal(await decorated.call(new Greeter()), 'hello');
assert.equal(store.size, 1);
await assert.rejects(decorated.call(new Greeter()), esm.isRateLimitExceededError);

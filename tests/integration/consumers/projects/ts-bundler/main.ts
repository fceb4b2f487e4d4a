import assert from 'node:assert/strict';
import { compileKey, fixedWindow, isRateLimitExceededError, RateLimiter } from '@sluice/core';
import { CountLimit, LimitType } from '@sluice/decorators';

class Sms {
  // A minifier renames parameters: their names are told.
  @CountLimit({ key: '#{phone}', limitType: LimitType.CUSTOM, period: 60, params: ['phone'] })
  async send(phone: string): Promise<string> {
    return `sent to ${phone}`;
  }
}

const sms = new Sms();
assert.equal(await sms.send('1'), 'sent to 1');
assert.equal(await sms.send('2'), 'sent to 2');
await assert.rejects(sms.send('1'), isRateLimitExceededError);

const limiter = new RateLimiter({ policy: fixedWindow({ limit: 1, window: '1h' }) });
assert.equal((await limiter.consume('k')).allowed, true);
assert.equal((await limiter.consume('k')).allowed, false);

// The bundle contains jsonpath-plus.
assert.equal(
  compileKey('#{items[*].id}').resolve(() => [{ id: 7 }]),
  '7',
);

import assert from 'node:assert/strict';
import { fixedWindow, isRateLimitExceededError, RateLimiter } from '@sluice/core';
import { CountLimit, LimitType } from '@sluice/decorators';

class Sms {
  // A minifier renames parameters, so `params` has their names.
  @CountLimit({ key: '#{phone}', limitType: LimitType.CUSTOM, period: 60, params: ['phone'] })
  async send(phone: string): Promise<string> {
    return `sent to ${phone}`;
  }

  // The bundle contains jsonpath-plus.
  @CountLimit({ key: '#{order.items[*].phone}', limitType: LimitType.CUSTOM, period: 60, params: ['order'] })
  async confirm(_order: { items: { phone: string }[] }): Promise<string> {
    return 'confirmed';
  }
}

const sms = new Sms();
assert.equal(await sms.send('1'), 'sent to 1');
assert.equal(await sms.send('2'), 'sent to 2');
await assert.rejects(sms.send('1'), isRateLimitExceededError);

assert.equal(await sms.confirm({ items: [{ phone: '1' }] }), 'confirmed');
await assert.rejects(sms.confirm({ items: [{ phone: '1' }] }), isRateLimitExceededError);

const limiter = new RateLimiter({ policy: fixedWindow({ limit: 1, window: '1h' }) });
assert.equal((await limiter.consume('k')).allowed, true);
assert.equal((await limiter.consume('k')).allowed, false);

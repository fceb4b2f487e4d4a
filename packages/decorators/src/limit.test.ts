import { concurrency, fixedWindow, slidingLog, tokenBucket } from '@sluice/core';
import { policiesSuite } from '../tests/policies-suite.js';
import { Limit } from './index.js';

const bucket = tokenBucket({ capacity: 10, refill: 1, every: '1h' });
const once = fixedWindow({ limit: 1, window: '1m' });

class Policies {
  @Limit(slidingLog({ limit: 2, window: '1s' }))
  async log() {
    return 'log';
  }

  @Limit({
    policies: {
      perSecond: fixedWindow({ limit: 2, window: '1s' }),
      perMinute: fixedWindow({ limit: 3, window: '1m' }),
    },
  })
  async several() {
    return 'several';
  }

  @Limit({ policy: bucket, cost: 4 })
  async four() {
    return 'four';
  }

  @Limit({ policy: bucket, cost: (items: readonly string[]) => items.length })
  async items(items: readonly string[]) {
    return items.join();
  }

  @Limit({
    policies: { calls: bucket, bytes: fixedWindow({ limit: 100, window: '1m' }) },
    cost: (text: string) => ({ bytes: text.length }),
  })
  async bytes(text: string) {
    return text;
  }

  @Limit({ policy: tokenBucket({ capacity: 1, refill: 1, every: '1s' }), timeout: '2s' })
  async waits() {
    return 'waits';
  }

  @Limit(concurrency({ limit: 2 }))
  async held(work: Promise<string>) {
    return work;
  }

  @Limit({ policy: concurrency({ limit: 1 }), limitType: 'CUSTOM', key: '#{_tenant}', timeout: '10s' })
  async inLine(_tenant: string, work: Promise<string>) {
    return work;
  }

  @Limit({ policy: once, limitType: 'USER' })
  async byUser() {
    return 'byUser';
  }

  @Limit({ policy: once, limitType: 'CUSTOM', key: '#{phone}', prefix: 'codes:' })
  async sharedA(phone: string) {
    return phone;
  }

  @Limit({ policy: once, limitType: 'CUSTOM', key: '#{phone}', prefix: 'codes:', params: ['phone'] })
  async sharedB(other: string) {
    return other;
  }

  @Limit(once)
  static async atClass() {
    return 'atClass';
  }
}

describe('standard decorators', () => policiesSuite(Policies));

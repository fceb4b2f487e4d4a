import { concurrency, fixedWindow } from '@sluice/core';
import { stackedSuite } from '../tests/stacked-suite.js';
import { CountLimit, Limit, RateLimit } from './index.js';

class Stacked {
  @CountLimit({ limit: 1, period: 60, key: '#{phone}', limitType: 'CUSTOM' })
  @CountLimit({ limit: 2, period: 86_400, prefix: 'day', key: '#{phone}', limitType: 'CUSTOM' })
  async send(phone: string) {
    return phone;
  }

  @CountLimit({ limit: 3, period: 60 })
  @RateLimit({ rate: 2 / 60, burst: 60 })
  @Limit(fixedWindow({ limit: 1, window: '1m' }))
  async three() {
    return 'three';
  }

  @CountLimit({ period: 60 })
  @RateLimit({ rate: 5, key: '#{_user.id}', limitType: 'CUSTOM' })
  async fails(_user: { id?: string }, reason?: Error) {
    if (reason !== undefined) throw reason;
    return 'fails';
  }

  @CountLimit({ period: 60 })
  @RateLimit({ rate: 5 })
  async outer() {
    return this.inner();
  }

  @CountLimit({ period: 60 })
  async inner() {
    return 'inner';
  }

  @CountLimit({ limit: 2, period: 60 })
  @RateLimit({ timeout: 1 })
  async waits() {
    return 'waits';
  }

  @Limit(concurrency({ limit: 1 }))
  @CountLimit({ key: '#{_phone}', limitType: 'CUSTOM', period: 60 })
  async alone(_phone: string) {
    return 'alone';
  }
}

describe('standard decorators', () => stackedSuite(Stacked));

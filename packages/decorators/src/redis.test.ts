import { redisStore } from '@sluice/core';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { CountLimit, createSluice, RateLimit, SLUICE, type Sluice } from './index.js';

class Sms {
  readonly [SLUICE]: Sluice;

  constructor(sluice: Sluice) {
    this[SLUICE] = sluice;
  }

  @RateLimit({ key: '#{phone}', rate: 1 / 60, burst: 60, expire: 120, limitType: 'CUSTOM' })
  @CountLimit({ key: '#{phone}', limit: 1, period: 60, limitType: 'CUSTOM' })
  async send(phone: string) {
    return phone;
  }
}

test('two processes with one Redis share a limit', async () => {
  const keyPrefix = uniqueName('decorators');
  // Stores of two processes: each its own connection, its own limiters.
  const stores = [redisStore(redisUrl()), redisStore(redisUrl())] as const;
  const [here, there] = stores.map((store) => new Sms(createSluice({ store, keyPrefix, deadline: '5s' })));
  try {
    await here!.send('138');
    await expect(there!.send('138')).rejects.toMatchObject({ status: 429, decision: { source: 'redis' } });
    await there!.send('139');
    await expect(here!.send('139')).rejects.toMatchObject({ status: 429 });
  } finally {
    await Promise.all([here![SLUICE].close(), there![SLUICE].close()]);
    await Promise.all(stores.map((store) => store.close()));
  }
});

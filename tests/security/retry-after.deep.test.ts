import { type Policy, slidingWindow } from '../../packages/core/src/index.js';
import { hourly, onEachAdapter } from '../contracts/adapters/on-each-framework.js';
import { merged } from '../support/conformance/all.js';

const rates: Readonly<Record<string, (period: string, limit: number) => Policy>> = {
  ...merged(({ policies, holds }) => (holds ? {} : policies)),
  'slidingWindow of one slot': (window, limit) => slidingWindow({ limit, window, slots: 1 }),
};
const PERIODS = ['1ms', '2ms', '999ms', '1s', '1001ms', '59999ms', '1d', '1000d'];

onEachAdapter(
  ({ start, limiter }) => {
    test.each(Object.entries(rates))(
      '%s: Retry-After is a whole number of at least 1',
      async (_, policyOf) => {
        for (const period of PERIODS) {
          const limit = { name: `every-${period}`, policy: policyOf(period, 1), legacyHeaders: true };
          const client = await start({ limits: [{ ...limit, limitType: 'METHOD' }] });
          await client.get('/').expect(200);
          const denied = await client.get('/').expect(429);
          expect(denied.headers['retry-after']).toMatch(/^[1-9]\d*$/);
          for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
            expect(denied.headers[name]).toMatch(/^\d+$/);
          }
        }
      },
    );

    test('Retry-After of a block is a whole number of at least 1, and a cost above the limit has none', async () => {
      const limit = limiter('blocked', hourly(5));
      const client = await start({ limits: [{ limiter: limit, limitType: 'METHOD' }] });
      for (const time of [0.001, 1, '3650d']) {
        await limit.block('all', time);
        const { headers } = await client.get('/').expect(429);
        expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
      }
      const costly = await start({ limits: [{ name: 'costly', policy: hourly(5), cost: 6 }] });
      expect((await costly.get('/').expect(429)).headers).not.toHaveProperty('retry-after');
    });
  },
  ['memory'],
);

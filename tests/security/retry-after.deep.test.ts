import {
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../packages/core/src/index.js';
import { hourly, onEachAdapter } from '../contracts/adapters/on-each-framework.js';

/** Policies of one permit in a period. */
const POLICIES: Readonly<Record<string, (each: string) => Policy>> = {
  fixedWindow: (window) => fixedWindow({ limit: 1, window }),
  slidingWindow: (window) => slidingWindow({ limit: 1, window, slots: 1 }),
  slidingLog: (window) => slidingLog({ limit: 1, window }),
  tokenBucket: (every) => tokenBucket({ capacity: 1, refill: 1, every }),
  gcra: (period) => gcra({ limit: 1, period }),
  leakyBucket: (every) => leakyBucket({ capacity: 1, leak: 1, every }),
};
const PERIODS = ['1ms', '2ms', '999ms', '1s', '1001ms', '59999ms', '1d', '1000d'];

onEachAdapter(
  ({ start, limiter }) => {
    test.each(Object.entries(POLICIES))(
      '%s: Retry-After is a whole number of at least 1',
      async (_, policyOf) => {
        for (const period of PERIODS) {
          const limit = { name: `every-${period}`, policy: policyOf(period), limitType: 'METHOD' as const };
          const client = await start({ limits: [{ ...limit, legacyHeaders: true }] });
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

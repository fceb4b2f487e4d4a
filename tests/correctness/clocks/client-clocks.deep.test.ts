import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import type { Call } from '../../../packages/core/src/call/call.js';
import { type Clock, systemClock } from '../../../packages/core/src/clock.js';
import { concurrency, gcra, type Policy, RateLimiter, type Store } from '../../../packages/core/src/index.js';
import { RedisStore } from '../../../packages/core/src/stores/redis/redis-store.js';
import { limitOf } from '../../support/limit-of.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { DAY, HOUR, LIMIT, SECOND, subjects, YEAR } from './subjects.js';

/** A process whose clock is wrong by `wrong` µs. Redis decides by the server's TIME. */
class WrongRedisStore extends RedisStore {
  override readonly clock: Clock;
  constructor(wrong: number) {
    super(redisUrl());
    this.clock = { now: () => systemClock.now() + wrong, sleep: systemClock.sleep };
  }
}

const errors = [-10 * YEAR, -DAY, -HOUR, -SECOND, SECOND, HOUR, DAY, 10 * YEAR];
let right: RedisStore;
let wrong: WrongRedisStore[];
beforeAll(() => {
  right = new RedisStore(redisUrl());
  wrong = errors.map((error) => new WrongRedisStore(error));
});
afterAll(() => Promise.all([right, ...wrong].map((store) => store.close())));

const ask = (store: Store, policy: Policy, key: string, more: Partial<Call> = {}, cost = 1) =>
  store.decide({
    operation: 'consume',
    wait: 0,
    parts: [{ limit: limitOf(compilePolicy(policy)), key, cost, at: 0 }],
    ...more,
  });

const hour = (now: number) => Math.floor(now / HOUR);

const { 'fixedWindow, calendar days': days, 'fixedWindow, calendar months': months, ...others } = subjects;
/** The date of a moment (µs) in Berlin. */
const dateOf = (moment: number) =>
  new Date(moment / 1000).toLocaleDateString('en-CA', { timeZone: 'Europe/Berlin' });
const calendars = [
  { name: 'days', policy: days!.policy, longest: DAY, begins: () => true },
  {
    name: 'months',
    policy: months!.policy,
    longest: 31 * DAY,
    begins: (date: string) => date.endsWith('-01'),
  },
];

test.each(Object.entries(others))('%s: callers with wrong clocks share one count', async (_, { policy }) => {
  let [began, ended] = [0, 0];
  do {
    const [own, common] = [uniqueName('client'), uniqueName('client')];
    began = (await ask(right, policy, own, { operation: 'peek' })).now;
    let [alone, together] = [0, 0];
    for (const _ of wrong) if ((await ask(right, policy, own)).allowed) alone += 1;
    for (const store of [...wrong, right]) if ((await ask(store, policy, common)).allowed) together += 1;
    const resets = await Promise.all(
      [right, ...wrong].map(async (store) => {
        const { now, parts } = await ask(store, policy, common, { operation: 'peek' });
        ended = now;
        return now + parts[0]!.reset;
      }),
    );
    if (hour(began) !== hour(ended)) continue;
    expect(together).toBe(alone);
    expect(new Set(resets).size).toBe(1);
  } while (hour(began) !== hour(ended)); // a window ended in between: try again
});

test.each(calendars)(
  'calendar $name: a caller whose clock is up to a day wrong uses the server’s window',
  async ({ policy, begins }) => {
    const key = uniqueName('client');
    const near = wrong.filter((_, i) => Math.abs(errors[i]!) <= DAY);
    let allowed = 0;
    for (const store of [...near, right, ...near]) if ((await ask(store, policy, key)).allowed) allowed += 1;
    const resets = [];
    for (const store of [right, ...near]) {
      const { now, parts } = await ask(store, policy, key, { operation: 'peek' });
      resets.push(now + parts[0]!.reset);
    }
    // Midnight in Berlin may have passed once meanwhile.
    expect(allowed).toBeLessThanOrEqual(2 * LIMIT);
    expect(new Set(resets).size).toBeLessThanOrEqual(2);
    for (const edge of resets) {
      expect(dateOf(edge - 1)).not.toBe(dateOf(edge));
      expect(begins(dateOf(edge))).toBe(true);
    }
  },
);

test.each(calendars)(
  'calendar $name: callers whose clocks are ten years wrong share one count in windows of the longest length',
  async ({ policy, longest }) => {
    const key = uniqueName('client');
    const far = wrong.filter((_, i) => Math.abs(errors[i]!) > DAY);
    let allowed = 0;
    for (const store of [...far, ...far, ...far]) if ((await ask(store, policy, key)).allowed) allowed += 1;
    expect(allowed).toBeGreaterThanOrEqual(LIMIT);
    expect(allowed).toBeLessThanOrEqual(2 * LIMIT);
    for (const store of far) {
      const { parts } = await ask(store, policy, key, { operation: 'peek' });
      expect(parts[0]!.reset).toBeLessThanOrEqual(longest);
    }
  },
);

describe('the time of day changes', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test.each([-HOUR, HOUR, 10 * YEAR])(
    'by %d µs: a waiting acquire sleeps by the monotonic clock',
    async (error) => {
      for (const store of [right, undefined]) {
        const policy = gcra({ limit: 5, period: '5s', burst: 1 });
        const storeOptions = store === undefined ? {} : { store, deadline: '10s' };
        const limiter = new RateLimiter({ name: uniqueName('client'), policy, ...storeOptions });
        let waited = 0;
        while (waited === 0) {
          // 1 s, less the time since the answer before: nothing on a machine that was stalled for that long.
          await limiter.acquire('k');
          const started = performance.now();
          const waiting = limiter.acquire('k', { timeout: '20s' });
          const now = Date.now.bind(Date);
          jest.spyOn(Date, 'now').mockImplementation(() => now() + error / 1000);
          ({ waited } = await waiting);
          expect(performance.now() - started).toBeLessThan(15_000);
          expect(performance.now() - started).toBeGreaterThanOrEqual(waited - 2);
          jest.restoreAllMocks();
        }
        await limiter.close();
      }
    },
  );

  test('a held permit stays held until its release', async () => {
    const limiter = new RateLimiter({
      name: uniqueName('client'),
      policy: concurrency({ limit: 1, lease: '3s' }),
      store: right,
      deadline: '10s',
    });
    const held = await limiter.acquire('k');
    const now = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => now() - HOUR / 1000);
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect(await limiter.peek('k')).toMatchObject({ remaining: 0 });
    await limiter.release(held);
    expect(await limiter.peek('k')).toMatchObject({ remaining: 1 });
    await limiter.close();
  });
});

import { concurrency, fixedWindow, memoryStore, RateLimiter, tokenBucket } from '@sluice/core';
import { LimiterPool } from '@sluice/core/internal';
import { deciding, OpenResponse } from '../../../tests/support/open-response.js';
import { RequestLimit } from './request-limit.js';
import type { RequestView } from './views.js';

const request = {} as RequestView;
const hourly = (limit: number) => fixedWindow({ limit, window: '1h' });

/** A limit with one key for all requests. Its policy is the argument of the request. */
function limit(options: object = {}) {
  const limits = new RequestLimit<[unknown]>('rateLimit', {
    policy: (given) => given as never,
    limitType: 'METHOD',
    ...options,
  });
  return Object.assign(limits, { decide: deciding(limits) });
}

test('the numbers can change with each request, and used permits stay used', async () => {
  const { decide } = limit();
  expect(await decide(request, hourly(1))).toMatchObject({ allowed: true, limit: 1, remaining: 0 });
  expect(await decide(request, hourly(1))).toMatchObject({ allowed: false });
  expect(await decide(request, hourly(3))).toMatchObject({ allowed: true, limit: 3, remaining: 1 });
});

test('another algorithm has its own count', async () => {
  const { decide } = limit();
  await decide(request, hourly(1));
  const bucket = tokenBucket({ capacity: 2, refill: 1, every: '1h' });
  expect(await decide(request, bucket)).toMatchObject({ allowed: true, remaining: 1 });
  expect(await decide(request, hourly(1))).toMatchObject({ allowed: false });
});

test.each([undefined, null, 5, 'fixedWindow', {}, []])(
  'rejects %j as a policy, and names the option',
  async (given) => {
    await expect(limit().decide(request, given)).rejects.toThrow(TypeError);
    await expect(limit().decide(request, given)).rejects.toThrow(
      /rateLimit: the function policy returned .*; it must return a policy/,
    );
  },
);

test.each([undefined, {}, { one: null }, hourly(1)])(
  'rejects %j as policies, and names the option',
  async (given) => {
    const { decide } = limit({ policy: undefined, policies: async () => given });
    await expect(decide(request, 0)).rejects.toThrow(
      /rateLimit: the function policies returned .*; it must return policies/,
    );
  },
);

test('invalid numbers and unknown names reject each request', async () => {
  await expect(limit().decide(request, { ...hourly(1), limit: 0.5 })).rejects.toThrow(RangeError);
  await expect(limit({ cost: { other: 1 } }).decide(request, hourly(1))).rejects.toThrow("no option 'other'");
});

test('limit.limiter throws; a limiter with the same name and store shares the counts', async () => {
  const store = memoryStore();
  const each = limit({ name: 'plan', store });
  expect(() => each.limiter).toThrow(/'plan' has a policy for each request/);
  await each.decide(request, hourly(1));
  await new RateLimiter({ name: 'plan', store, policy: hourly(9) }).reset('all');
  expect(await each.decide(request, hourly(1))).toMatchObject({ allowed: true });
});

test('a skipped request needs no policy', async () => {
  await expect(limit({ skip: () => true }).decide(request, undefined)).resolves.toBeUndefined();
});

test('held permits are released even if their limiter was evicted', async () => {
  const held = limit();
  const { decide } = held;
  const policy = concurrency({ limit: 1, lease: '1h' });
  const response = new OpenResponse();
  await deciding(held, response)(request, policy);
  for (let i = 1; i <= 1000; i += 1) await decide(request, hourly(i));
  expect(await decide(request, policy)).toMatchObject({ allowed: false });
  response.end();
  expect(await decide(request, policy)).toMatchObject({ allowed: true });
});

test('a closed limit rejects, and does not close a store that it received', async () => {
  const store = memoryStore();
  const close = jest.spyOn(store, 'close');
  const given = limit({ name: 'plan', store });
  await given.decide(request, hourly(1));
  await given.close();
  for (const policy of [hourly(1), hourly(2)]) {
    await expect(given.decide(request, policy)).rejects.toMatchObject({ code: 'SLUICE_LIMITER_CLOSED' });
  }
  expect(close).not.toHaveBeenCalled();
});

describe('the cache', () => {
  test('finds policies by value', () => {
    const limiters = new LimiterPool({}, 1000);
    const one = limiters.byPolicies(hourly(1));
    expect(limiters.byPolicies(hourly(1))).toBe(one);
    expect(limiters.byPolicies(hourly(2))).not.toBe(one);
    expect(limiters.byPolicies({ default: hourly(1) })).not.toBe(one);
    expect(limiters.limiters.size).toBe(3);
  });

  test('keeps 1,000 limiters and evicts the least recently used', () => {
    const limiters = new LimiterPool({}, 1000);
    const limiterFor = (limit: number) => limiters.byPolicies(hourly(limit));
    const first = limiterFor(1);
    const made = new Map<number, unknown>();
    for (let i = 2; i <= 5000; i += 1) {
      made.set(i, limiterFor(i));
      expect(limiterFor(1)).toBe(first);
    }
    expect(limiters.limiters.size).toBe(1000);
    expect(limiterFor(4002)).toBe(made.get(4002));
    expect(limiterFor(4001)).not.toBe(made.get(4001));
  });
});

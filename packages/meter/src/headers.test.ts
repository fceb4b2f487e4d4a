import { concurrency, fixedWindow, ManualClock, memoryStore, RateLimiter, tokenBucket } from '@sluice/core';
import { parseList } from 'structured-headers';
import { rejection } from '../../../tests/support/rejection.js';
import { draft11Writer } from '../../http/src/headers/decision-headers.js';
import { headersBy } from '../../http/src/headers/single-policy.js';
import { type BudgetExceededError, budgetHeaders, meter } from './index.js';

const axes = {
  usd: fixedWindow({ limit: 1_000, window: '1h' }),
  output: tokenBucket({ capacity: 100, refill: 10, every: '1s' }),
  running: concurrency({ limit: 2 }),
};
const scopes = (who: string) => [who, { key: 'all', axes: ['usd'] as const }];
const store = memoryStore({ clock: new ManualClock() });
afterAll(() => store.close());
let meters = 0;
const begin = (more = {}) => {
  meters += 1;
  return meter({ name: `ai-${meters}`, store, axes, ...more });
};
const read = (list: string | undefined) =>
  parseList(list!).map(([name, parameters]) => [name, Object.fromEntries(parameters)]);
const denialOf = (work: Promise<unknown>) => rejection(work) as Promise<BudgetExceededError>;

test('the headers of a hold have an item for each axis', async () => {
  const budget = begin();
  const hold = await budget.hold('ann', { usd: 300, output: 25 });
  const headers = budgetHeaders(hold.state);
  expect(Object.keys(headers)).toEqual(['RateLimit-Policy', 'RateLimit']);
  expect(read(headers['RateLimit-Policy'])).toEqual([
    [`${budget.name}.usd`, { q: 1_000, w: 3_600 }],
    [`${budget.name}.output`, { q: 100, w: 10 }],
    [`${budget.name}.running`, { q: 2, qu: 'concurrent-requests' }],
  ]);
  expect(read(headers.RateLimit)).toEqual([
    [`${budget.name}.usd`, { r: 700, t: 3_600 }],
    [`${budget.name}.output`, { r: 75, t: 1 }],
    [`${budget.name}.running`, { r: 1 }],
  ]);
  await hold.cancel();
  await budget.close();
});

test('they have the form of the headers of limits on requests', async () => {
  for (const policy of Object.values(axes)) {
    meters += 1;
    const name = `form-${meters}`;
    const limiter = new RateLimiter({ name, policies: { one: policy }, store });
    const budget = meter({ name, store, axes: { one: policy } });
    const hold = await budget.hold('ann', { one: 1 });
    expect(budgetHeaders(hold.state)).toEqual(headersBy(draft11Writer(), await limiter.consume('ann')));
    await Promise.all([budget.close(), limiter.close()]);
  }
});

test('a denial has Retry-After, which is the time of the axis that denied', async () => {
  const budget = begin();
  await budget.hold('ann', { output: 95 });
  const headers = budgetHeaders(await denialOf(budget.hold('ann', { usd: 5, output: 30 })));
  expect(headers['Retry-After']).toBe('3');
  expect(read(headers.RateLimit)).toEqual([
    [`${budget.name}.usd`, { r: 1_000, t: 0 }],
    [`${budget.name}.output`, { r: 5, t: 3 }],
    [`${budget.name}.running`, { r: 1 }],
  ]);
  await budget.close();
});

test('a denial of what runs at once has a time, and one that can never pass has none', async () => {
  const budget = begin();
  const never = budgetHeaders(await denialOf(budget.hold('ann', { usd: 1_001 })));
  expect(never).not.toHaveProperty('Retry-After');
  await budget.hold('ann', {});
  await budget.hold('ann', {});
  const { RateLimit, 'Retry-After': seconds } = budgetHeaders(await denialOf(budget.hold('ann', {})));
  expect(read(RateLimit)[2]).toEqual([`${budget.name}.running`, { r: 0, t: Number(seconds) }]);
  await budget.close();
});

test('of several scopes an axis shows the one that denied, or the one with the least left', async () => {
  const budget = begin({ scopes });
  const hold = await budget.hold('ann', { usd: 900 });
  await hold.settle({ usd: 1_200 });
  const { RateLimit } = budgetHeaders(await budget.status('ben'));
  expect(read(RateLimit)[0]).toEqual([`${budget.name}.usd`, { r: 0, t: 3_600 }]);
  const denied = budgetHeaders(await denialOf(budget.hold('ben', { usd: 1 })));
  expect(read(denied.RateLimit)[0]).toEqual([`${budget.name}.usd`, { r: 0, t: 3_600 }]);
  expect(denied['Retry-After']).toBe('3600');
  await budget.close();
});

describe('a budget that refund holds have taken whole', () => {
  const refund = { lapse: 'refund', ttl: '16s' } as const;

  test('comes back when they lapse, and a denial has the same time', async () => {
    const budget = begin({ axes: { usd: axes.usd }, ...refund });
    const hold = await budget.hold('ann', { usd: 1_000 });
    const item = (t: number) => [[`${budget.name}.usd`, { r: 0, t }]];
    const denial = await denialOf(budget.hold('ann', { usd: 1 }));
    expect(denial.retryAfter).toBeGreaterThanOrEqual(16_000);
    const seconds = Math.ceil(denial.retryAfter / 1000); // up to an eighth later than the time to live
    expect(read(budgetHeaders(denial).RateLimit)).toEqual(item(seconds));
    expect(read(budgetHeaders(hold.state).RateLimit)).toEqual(item(seconds));
    await hold.cancel();
    await budget.close();
  });

  test('comes back earlier if the limit has permits before they lapse', async () => {
    const budget = begin({ axes: { output: axes.output }, ...refund });
    await (await budget.hold('ann', { output: 50 })).settle({ output: 50 });
    const { state } = await budget.hold('ann', { output: 50 });
    expect(read(budgetHeaders(state).RateLimit)).toEqual([[`${budget.name}.output`, { r: 0, t: 1 }]]);
    await budget.close();
  });

  test('does not come back while more is used than the limit', async () => {
    const budget = begin({ axes: { usd: axes.usd }, ...refund });
    const first = await budget.hold('ann', { usd: 500 });
    const { state } = await budget.hold('ann', { usd: 500 });
    const over = await first.settle({ usd: 1_200 });
    expect(state.lines[0]!.moreAfter).toBeLessThanOrEqual(18_000);
    expect(state.lines[0]!.moreAfter).toBeGreaterThanOrEqual(16_000);
    expect(over.lines).toMatchObject([{ left: -700, moreAfter: 3_600_000 }]);
    await budget.close();
  });
});

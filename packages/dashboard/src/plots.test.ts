import { fixedWindow, memoryStore, RateLimiter } from '@sluice/core';
import { Decisions } from './decisions.js';
import { usageOf } from './usage.js';

// The data of the plots.

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('seconds before the page watched are not counted as zeros', () => {
  const decisions = new Decisions();
  expect(decisions.kept).toMatchObject({ watched: 0, counts: {} });
  decisions.next();
  decisions.add({ limiter: 'login', result: 'allowed' } as Parameters<Decisions['add']>[0]);
  expect(decisions.next()).toMatchObject({ watched: 1, counts: { login: [[1, 0]] } });
  expect(decisions.kept).toMatchObject({ watched: 2, counts: { login: [[1, 0]] } });
  for (let i = 0; i < 200; i += 1) decisions.next();
  expect(decisions.kept).toMatchObject({ watched: 180, counts: {} });
});

test('slots before the first call of a limiter are null', async () => {
  const store = memoryStore({ usage: true });
  const policy = fixedWindow({ limit: 1, window: '1d' });
  const login = new RateLimiter({ name: 'login', policy, store });
  const allowed = async () => {
    const usage = await usageOf(store, [], () => {});
    return usage!.limiters.login!.allowed;
  };
  await login.consume('ann');
  expect(await allowed()).toEqual(new Array(89).fill(null));
  await jest.advanceTimersByTimeAsync(35_000);
  expect(await allowed()).toEqual([...new Array(86).fill(null), 1, 0, 0]);
  await jest.advanceTimersByTimeAsync(820_000);
  await login.consume('ann');
  expect(await allowed()).toEqual([...new Array(4).fill(null), 1, ...new Array(84).fill(0)]);
  await login.close();
  await store.close();
});

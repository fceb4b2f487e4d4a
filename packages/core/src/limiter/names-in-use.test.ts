import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { gcra } from '../algorithms/gcra/gcra.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import { LimiterFactory } from './limiter-factory.js';
import { RateLimiter } from './rate-limiter.js';

const policy = (limit: number) => fixedWindow({ limit, window: '1h' });

let emitted: jest.SpyInstance;
beforeEach(() => {
  emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
});
afterEach(() => emitted.mockRestore());

test('two limiters with one name and different policies cause one warning with a remedy', () => {
  const store = memoryStore();
  for (const limit of [1, 2, 3]) new RateLimiter({ name: 'same-name', policy: policy(limit), store });
  expect(emitted.mock.calls).toEqual([
    [
      expect.stringMatching(
        /^Two limiters named 'same-name' in one store .*"limit":1.*"limit":2.*Give each limiter its own name/,
      ),
      expect.objectContaining({ code: 'SLUICE_SAME_NAME' }),
    ],
  ]);
});

test('a difference in one of several policies also warns', () => {
  const store = memoryStore();
  const policies = (limit: number) => ({ day: gcra({ limit: 9, period: '1d' }), hour: policy(limit) });
  for (const limit of [1, 2]) new RateLimiter({ name: 'one-of-several', policies: policies(limit), store });
  expect(emitted).toHaveBeenCalledTimes(1);
});

test('limits that share no count cause no warning', async () => {
  const store = memoryStore();
  new RateLimiter({ name: 'apart', policy: policy(1), store });
  new RateLimiter({ name: 'apart', policy: policy(1), store });
  new RateLimiter({ name: 'apart', policy: policy(2), store: memoryStore() });
  new RateLimiter({ name: 'apart', policy: policy(2), store, keyPrefix: 'other' });
  new RateLimiter({ name: 'apart', policy: gcra({ limit: 2, period: '1h' }), store });
  new RateLimiter({ policy: policy(1) });
  new RateLimiter({ policy: policy(2) });
  expect(emitted).not.toHaveBeenCalled();
});

test('a closed limiter frees its name', async () => {
  const store = memoryStore();
  const first = new RateLimiter({ name: 'renewed', policy: policy(1), store });
  const twin = new RateLimiter({ name: 'renewed', policy: policy(1), store });
  await first.close();
  await first.close();
  await twin.close();
  new RateLimiter({ name: 'renewed', policy: policy(2), store });
  expect(emitted).not.toHaveBeenCalled();
});

test('a factory can change the policy of a name without a warning', () => {
  const limiters = new LimiterFactory({ store: memoryStore() });
  for (const limit of [1, 2]) {
    limiters.get('on-purpose', () => policy(limit));
    limiters.delete('on-purpose');
  }
  expect(emitted).not.toHaveBeenCalled();
});

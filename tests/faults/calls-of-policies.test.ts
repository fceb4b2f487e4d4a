import {
  type FailurePolicy,
  fixedWindow,
  isStoreUnavailableError,
  RateLimiter,
  type RedisStore,
  redisStore,
  SharedLimiter,
} from '@sluice/core';
import { freePort } from '../support/redis/free-port.js';

// The rules of docs/reliability.md for each kind of call while Redis is out.

const policy = fixedWindow({ limit: 9, window: '1h' });
let store: RedisStore;
const limiterOf = (failurePolicy: FailurePolicy) =>
  new RateLimiter({ name: 'calls', policy, store, failurePolicy });

beforeEach(async () => {
  store = redisStore(`redis://127.0.0.1:${await freePort()}`).on('degraded', () => {});
});
afterEach(() => store.close());

const outcome = (call: Promise<unknown>): Promise<unknown> =>
  call.catch((error) => (isStoreUnavailableError(error) ? 'StoreUnavailableError' : error));

test.each(['local', 'allow'] as const)("'%s' decides every call that takes permits", async (word) => {
  const limiter = limiterOf(word);
  const expected = { allowed: true, degraded: true, source: word };
  expect(await limiter.consume('k')).toMatchObject(expected);
  expect(await limiter.peek('k')).toMatchObject(expected);
  expect(await limiter.acquire('k', { timeout: '1s' })).toMatchObject(expected);
  const reservation = await limiter.reserve('k', 2);
  expect(reservation.decision).toMatchObject(expected);
  await reservation.cancel();
  expect(await limiter.schedule('k', async () => 'done')).toBe('done');
});

test("'deny' answers consume and peek with a denial, and rejects calls that wait", async () => {
  const limiter = limiterOf('deny');
  const expected = { allowed: false, degraded: true, source: 'deny' };
  expect(await limiter.consume('k')).toMatchObject(expected);
  expect(await limiter.peek('k')).toMatchObject(expected);
  for (const call of [
    limiter.acquire('k', { timeout: '1s' }),
    limiter.reserve('k', 2),
    limiter.schedule('k', async () => 'done'),
  ]) {
    expect(await outcome(call)).toBe('StoreUnavailableError');
  }
});

test.each(['local', 'allow', 'deny'] as const)(
  "with '%s' calls that change stored state reject",
  async (word) => {
    const limiter = limiterOf(word);
    const shared = new SharedLimiter({ name: 'shared', store });
    for (const call of [
      () => limiter.block('k', '1s'),
      () => limiter.unblock('k'),
      () => limiter.reset('k'),
      () => limiter.override('k', policy, { expiresIn: '1m' }),
      () => limiter.removeOverride('k'),
      () => limiter.penalty('k', 1),
      () => limiter.reward('k', 1),
      () => shared.tryAcquire(),
    ]) {
      expect([call.toString(), await outcome(call())]).toEqual([call.toString(), 'StoreUnavailableError']);
    }
  },
);

import { isRateNotSetError, type SharedLimiter } from '../../../../packages/core/src/index.js';
import { rejection } from '../harness.js';
import { drain, type FleetKind, SharedHarness } from './setup.js';

const RATE = { rate: 5, interval: '1h' } as const;
const PER_CLIENT = { ...RATE, mode: 'PER_CLIENT' } as const;

const notSet = async (limiter: SharedLimiter) => isRateNotSetError(await rejection(limiter.tryAcquire()));

/** Who sets the rate, changes it, reads it and deletes it. */
export function settingContract(kind: FleetKind): void {
  const harness = new SharedHarness(kind);

  test('trySetRate sets the rate once', async () => {
    const limiter = harness.limiter();
    expect(await limiter.trySetRate(RATE)).toBe(true);
    expect(await limiter.trySetRate({ rate: 100, interval: '1s' })).toBe(false);
    expect(await harness.elsewhere(limiter).trySetRate({ rate: 100, interval: '1s' })).toBe(false);
    expect(await limiter.getConfig()).toMatchObject({ rate: 5, interval: 3_600_000 });
  });

  test('one of several trySetRate calls at the same moment sets the rate', async () => {
    const limiter = harness.limiter();
    const other = harness.elsewhere(limiter);
    const rates = Array.from({ length: 10 }, (_, i) => i + 1);
    const set = await Promise.all(
      rates.map((rate) => (rate % 2 ? limiter : other).trySetRate({ ...RATE, rate })),
    );
    expect(set.filter(Boolean)).toHaveLength(1);
    expect(await limiter.getConfig()).toMatchObject({ rate: rates[set.indexOf(true)] });
  });

  test('getConfig returns the rate to every process, and its result can be set again', async () => {
    const limiter = harness.limiter();
    expect(await limiter.getConfig()).toBeUndefined();
    await limiter.setRate({ mode: 'PER_CLIENT', rate: 7, interval: '1.5s', keepAliveTime: '2m' });
    const config = { mode: 'PER_CLIENT', rate: 7, interval: 1500, keepAliveTime: 120_000 };
    expect(await harness.elsewhere(limiter).getConfig()).toEqual(config);
    await limiter.setRate((await limiter.getConfig())!);
    expect(await limiter.getConfig()).toEqual(config);
    await limiter.setRate(RATE);
    expect(await limiter.getConfig()).toMatchObject({ mode: 'OVERALL', keepAliveTime: 3650 * 86_400_000 });
  });

  test('without a rate each call rejects and takes nothing', async () => {
    const limiter = harness.limiter();
    const error = await rejection(limiter.acquire());
    expect(isRateNotSetError(error)).toBe(true);
    expect(error).toMatchObject({
      name: 'RateNotSetError',
      code: 'SLUICE_RATE_NOT_SET',
      message: expect.stringContaining(limiter.name),
    });
    expect(isRateNotSetError(await rejection(limiter.availablePermits()))).toBe(true);
    expect(await notSet(limiter)).toBe(true);
    expect(await limiter.updateRate(RATE)).toBe(false);
    expect(await limiter.getConfig()).toBeUndefined();
    expect(await limiter.delete()).toBe(false);
  });

  test('setRate starts from zero: permits taken before no longer count, for any client', async () => {
    const limiter = await harness.set(RATE);
    const other = harness.elsewhere(limiter);
    expect([await drain(limiter), await drain(other)]).toEqual([5, 0]);
    await harness.moment();
    await limiter.setRate({ ...RATE, rate: 3 });
    await harness.moment();
    expect(await other.availablePermits()).toBe(3);
    expect([await drain(other), await drain(limiter)]).toEqual([3, 0]);
  });

  test('setRate starts from zero for each client', async () => {
    const a = await harness.set(PER_CLIENT, { clientId: 'a' });
    const b = harness.elsewhere(a, 'b');
    const c = harness.limiter({ name: a.name, clientId: 'c' });
    expect(await Promise.all([a, b, c].map(drain))).toEqual([5, 5, 5]);
    await harness.moment();
    await b.setRate({ ...PER_CLIENT, rate: 2 });
    await harness.moment();
    expect(await Promise.all([a, b, c].map(drain))).toEqual([2, 2, 2]);
  });

  test('updateRate keeps taken permits', async () => {
    const limiter = await harness.set(RATE);
    const other = harness.elsewhere(limiter);
    await limiter.tryAcquire(4);
    expect(await other.updateRate({ ...RATE, rate: 6 })).toBe(true);
    expect(await limiter.availablePermits()).toBe(2);
    await other.updateRate({ ...RATE, rate: 2 });
    expect(await limiter.availablePermits()).toBe(0);
    // Of four taken three have to come back before one more can go: all at once, an hour after they went.
    await harness.clock.advance('59m');
    expect(await limiter.tryAcquire()).toBe(false);
    await harness.clock.advance('1m');
    expect(await drain(other)).toBe(2);
  });

  test('updateRate to another interval counts the permits taken within the new interval', async () => {
    const limiter = await harness.set(RATE);
    await limiter.tryAcquire(5);
    await harness.clock.advance('10m');
    await limiter.updateRate({ ...RATE, interval: '20m' });
    expect(await limiter.availablePermits()).toBe(0);
    await harness.clock.advance('10m');
    expect(await limiter.availablePermits()).toBe(5);
  });

  test('a change applies to other processes at their next decision', async () => {
    const limiter = await harness.set({ rate: 1, interval: '1h' });
    const other = harness.elsewhere(limiter);
    expect([await other.tryAcquire(), await other.tryAcquire()]).toEqual([true, false]);
    await limiter.updateRate({ rate: 3, interval: '1h' });
    expect(await drain(other)).toBe(2);
    await limiter.updateRate({ rate: 3, interval: '1m' });
    await harness.clock.advance('1m');
    expect(await drain(other)).toBe(3);
  });

  test('OVERALL is one rate for the fleet, PER_CLIENT one for each client', async () => {
    const a = await harness.set(RATE, { clientId: 'a' });
    const b = harness.elsewhere(a, 'b');
    expect([await drain(a), await drain(b)]).toEqual([5, 0]);
    await harness.moment();
    await a.setRate(PER_CLIENT);
    await harness.moment();
    expect([await drain(a), await drain(b)]).toEqual([5, 5]);
    expect([await a.availablePermits(), await b.availablePermits()]).toEqual([0, 0]);
  });

  test('without a clientId all limiters of one store object are one client', async () => {
    const one = await harness.set(PER_CLIENT);
    const same = harness.limiter({ name: one.name });
    const other = harness.elsewhere(one);
    expect([await drain(one), await drain(same), await drain(other)]).toEqual([5, 0, 5]);
  });

  test('updateRate changes the mode, and permits taken in a mode count in that mode', async () => {
    const a = await harness.set(RATE, { clientId: 'a' });
    const b = harness.elsewhere(a, 'b');
    await a.tryAcquire(3);
    await a.updateRate(PER_CLIENT);
    expect(await Promise.all([a, b].map((limiter) => limiter.availablePermits()))).toEqual([5, 5]);
    await b.tryAcquire(4);
    await b.updateRate(RATE);
    expect(await Promise.all([a, b].map((limiter) => limiter.availablePermits()))).toEqual([2, 2]);
    await a.updateRate(PER_CLIENT);
    expect(await Promise.all([a, b].map((limiter) => limiter.availablePermits()))).toEqual([5, 1]);
  });

  test('delete removes the rate and taken permits, and a new rate starts empty', async () => {
    const limiter = await harness.set(RATE);
    const other = harness.elsewhere(limiter);
    await drain(limiter);
    expect([await other.delete(), await limiter.delete()]).toEqual([true, false]);
    expect([await notSet(limiter), await notSet(other)]).toEqual([true, true]);
    expect(await limiter.getConfig()).toBeUndefined();
    await harness.moment();
    expect(await limiter.trySetRate({ ...RATE, rate: 2 })).toBe(true);
    await harness.moment();
    expect(await drain(other)).toBe(2);
  });

  test('a new rate drops earlier bookings too', async () => {
    const limiter = await harness.set(RATE);
    await drain(limiter);
    const waits = [limiter.acquire(5), limiter.acquire(5)];
    await harness.answered(limiter);
    expect(await limiter.availablePermits()).toBe(0);
    await limiter.delete();
    await harness.moment();
    await limiter.trySetRate(RATE);
    await harness.moment();
    expect(await limiter.availablePermits()).toBe(5);
    expect(await limiter.tryAcquire(5)).toBe(true);
    // A promised moment is kept.
    await harness.clock.advance('2h');
    expect(await Promise.all(waits)).toHaveLength(2);
  });

  test('each name and each prefix counts apart', async () => {
    const limiter = await harness.set(RATE);
    const other = await harness.set(RATE);
    const prefixed = await harness.set(RATE, { name: limiter.name, keyPrefix: 'shop' });
    await drain(limiter);
    expect([await other.availablePermits(), await prefixed.availablePermits()]).toEqual([5, 5]);
    await prefixed.delete();
    await other.delete();
    expect(await limiter.availablePermits()).toBe(0);
  });
}

import { drain, type FleetKind, SharedHarness } from './setup.js';

const RATE = { rate: 5, interval: '1h' } as const;

/** Changes and clocks: a cleared key is known by a mark and not by the time, which may stand still or go back. */
export function momentsContract(kind: FleetKind): void {
  const harness = new SharedHarness(kind);

  test('permits taken at the moment of a change count', async () => {
    const limiter = harness.limiter();
    await limiter.setRate(RATE);
    expect(await drain(limiter)).toBe(5);
    await limiter.setRate({ ...RATE, rate: 3 });
    expect(await drain(harness.elsewhere(limiter))).toBe(3);
    expect(await limiter.availablePermits()).toBe(0);
    await limiter.updateRate({ ...RATE, rate: 4 });
    expect(await drain(limiter)).toBe(1);
  });

  test('a clock that steps back after a change admits no more than the rate', async () => {
    const limiter = await harness.set(RATE);
    await drain(limiter);
    await limiter.setRate(RATE);
    harness.clock.set(harness.clock.now() - 3_600_000_000);
    expect(await drain(limiter)).toBe(5);
    await harness.clock.advance('59m');
    expect(await drain(limiter)).toBe(0);
    await harness.clock.advance('1m');
    expect(await drain(limiter)).toBe(5);
  });

  test('a clock that steps back keeps bookings made since the change, in order', async () => {
    const limiter = await harness.set({ rate: 1, interval: '1h' });
    await limiter.tryAcquire();
    const waits = [limiter.acquire(), limiter.acquire()];
    await harness.answered(limiter);
    harness.clock.set(harness.clock.now() - 7_200_000_000);
    expect(await limiter.availablePermits()).toBe(0);
    expect(await limiter.tryAcquire(1, '2h')).toBe(false);
    await harness.clock.advance('9h');
    expect(await Promise.all(waits)).toHaveLength(2);
  });

  test('bookings that have expired do not count again under a longer interval', async () => {
    const limiter = await harness.set(RATE);
    await drain(limiter);
    const booked = limiter.acquire(3);
    await harness.answered(limiter);
    await harness.clock.advance('1h');
    await booked;
    await harness.clock.advance('1h');
    await limiter.updateRate({ ...RATE, interval: '3h' });
    expect(await limiter.availablePermits()).toBe(5);
  });

  test('a limit that is deleted and set again at one moment starts empty', async () => {
    const limiter = await harness.set(RATE);
    await drain(limiter);
    await limiter.delete();
    if (kind.name === 'redis') await harness.moment(); // a mark there is the time of setting
    await limiter.trySetRate(RATE);
    expect(await drain(limiter)).toBe(5);
  });
}

import { isRateLimitExceededError, isRateNotSetError } from '../../../../packages/core/src/index.js';
import { rejection } from '../harness.js';
import { drain, type FleetKind, SharedHarness } from './setup.js';

const RATE = { rate: 5, interval: '1h' } as const;

/** Who takes permits, now or later. */
export function takingContract(kind: FleetKind): void {
  const harness = new SharedHarness(kind);

  test('counts permits, not calls (redisson 3639)', async () => {
    const limiter = await harness.set(RATE);
    expect(await limiter.tryAcquire(3)).toBe(true);
    expect(await limiter.availablePermits()).toBe(2);
    expect(await limiter.tryAcquire(3)).toBe(false);
    expect(await limiter.tryAcquire(2)).toBe(true);
    expect(await limiter.availablePermits()).toBe(0);
  });

  test('a rate of a million holds in any interval, and permits return at most a thousandth of the interval late', async () => {
    const limiter = await harness.set({ rate: 1_000_000, interval: '1h' });
    expect(await limiter.getConfig()).toMatchObject({ rate: 1_000_000, interval: 3_600_000 });
    expect(await limiter.tryAcquire(600_000)).toBe(true);
    await harness.clock.advance('30m');
    expect(await limiter.tryAcquire(400_001)).toBe(false);
    expect(await limiter.tryAcquire(400_000)).toBe(true);
    await harness.clock.advance('29m59s');
    expect(await limiter.availablePermits()).toBe(0);
    await harness.clock.advance('5s');
    expect(await limiter.availablePermits()).toBe(600_000);
    expect(await limiter.updateRate({ rate: 700_000, interval: '1h' })).toBe(true);
    expect(await limiter.availablePermits()).toBe(300_000);
    const waiting = limiter.tryAcquire(300_001, '1h');
    await harness.answered(limiter);
    await harness.clock.advance('30m');
    expect(await waiting).toBe(true);
  });

  test('many small calls of a large rate are stored in a thousand slots', async () => {
    const limiter = await harness.set({ rate: 20_000, interval: '1h' });
    for (let i = 0; i < 1_100; i += 1) {
      await harness.clock.advance('1s');
      expect(await limiter.tryAcquire()).toBe(true);
    }
    expect(await limiter.availablePermits()).toBe(20_000 - 1_100);
    await harness.clock.advance('3540s'); // at most one slot of the first minute is left
    expect(await limiter.availablePermits()).toBeGreaterThanOrEqual(20_000 - 1_100 + 1_036);
    expect(await limiter.updateRate({ rate: 5, interval: '1h' })).toBe(true);
    expect(await limiter.availablePermits()).toBe(0);
  });

  test('availablePermits takes nothing', async () => {
    const limiter = await harness.set(RATE);
    for (let i = 0; i < 10; i += 1) expect(await limiter.availablePermits()).toBe(5);
    expect(await drain(limiter)).toBe(5);
  });

  test('each permit returns an interval after it was taken, and there are never more than the rate (redisson 5751)', async () => {
    const limiter = await harness.set(RATE);
    await limiter.tryAcquire(2);
    await harness.clock.advance('30m');
    await limiter.tryAcquire(3);
    await harness.clock.advance('1799999ms');
    expect(await limiter.availablePermits()).toBe(0);
    await harness.clock.advance('1ms');
    expect(await limiter.availablePermits()).toBe(2);
    await harness.clock.advance('30m');
    expect(await limiter.availablePermits()).toBe(5);
    await harness.clock.advance('9h');
    expect(await limiter.availablePermits()).toBe(5);
  });

  test('tryAcquire with a timeout returns true at once or after a wait, or false', async () => {
    const limiter = await harness.set(RATE);
    expect(await limiter.tryAcquire(4, '1h')).toBe(true); // at once: nobody moved the clock
    const start = harness.clock.now();
    expect(await limiter.tryAcquire(2, '3599999ms')).toBe(false);
    expect(await limiter.availablePermits()).toBe(1); // a refusal books nothing

    let acquired: boolean | undefined;
    const waiting = limiter.tryAcquire(2, '1h').then((has) => {
      acquired = has;
      return harness.clock.now() - start;
    });
    await harness.answered(limiter);
    await harness.clock.advance('3599999ms');
    expect(acquired).toBeUndefined();
    await harness.clock.advance('1ms');
    expect([await waiting, acquired]).toEqual([3_600_000_000, true]);
    expect(await limiter.availablePermits()).toBe(3);
  });

  test('acquire serves calls of all processes in the order in which they were made', async () => {
    const limiter = await harness.set({ rate: 2, interval: '1h' });
    const processes = [limiter, harness.elsewhere(limiter)];
    const start = harness.clock.now();
    await processes[1]!.availablePermits(); // connected
    const served: [number, number][] = [];
    const waits: Promise<unknown>[] = [];
    for (let i = 0; i < 6; i += 1) {
      const from = processes[i % 2]!;
      const wait = from.acquire(i === 2 ? 2 : 1).then(({ waited }) => {
        served.push([i, waited / 3_600_000]);
        expect(harness.clock.now() - start).toBe(waited * 1000);
      });
      waits.push(wait);
      await harness.answered(from);
    }
    await harness.clock.advance('5h');
    await Promise.all(waits);
    expect(served).toEqual([
      [0, 0],
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 2],
      [5, 3],
    ]);
  });

  test('a wait that ends early returns its booking', async () => {
    const limiter = await harness.set(RATE);
    await drain(limiter);
    const stop = new AbortController();
    const aborted = rejection(limiter.acquire(5, { signal: stop.signal }));
    await harness.answered(limiter);
    const next = limiter.acquire(5);
    await harness.answered(limiter);
    stop.abort(new Error('changed my mind'));
    expect(await aborted).toMatchObject({ message: 'changed my mind' });
    // Who has a moment keeps it; the place before is free again.
    const third = limiter.acquire(5);
    await harness.answered(limiter);
    await harness.clock.advance('2h');
    const waited = (await Promise.all([next, third])).map((decision) => decision.waited / 3_600_000);
    expect(waited).toEqual([2, 1]);
  });

  test('close rejects waiting calls and returns their permits, and the rate stays', async () => {
    const limiter = await harness.set(RATE);
    await drain(limiter);
    const waits = [limiter.acquire(5), limiter.acquire(5)].map(rejection);
    await harness.answered(limiter);
    await limiter.close();
    for (const error of await Promise.all(waits))
      expect(error).toMatchObject({ code: 'SLUICE_LIMITER_CLOSED' });
    expect(await rejection(limiter.getConfig())).toMatchObject({ code: 'SLUICE_LIMITER_CLOSED' });
    const other = harness.elsewhere(limiter);
    await harness.clock.advance('1h');
    expect(await drain(other)).toBe(5);
  });

  test('refund returns taken permits once, and none that were cleared or deleted since', async () => {
    const limiter = await harness.set(RATE);
    const first = await limiter.acquire(3);
    await limiter.refund(first);
    await limiter.refund(first);
    expect(await limiter.availablePermits()).toBe(5);

    const second = await limiter.acquire(3);
    await harness.moment();
    await limiter.setRate(RATE);
    await harness.moment();
    await limiter.tryAcquire(5);
    await limiter.refund(second);
    expect(await limiter.availablePermits()).toBe(0);

    await harness.moment();
    const third = harness.limiter({ name: limiter.name });
    await third.setRate(RATE);
    await harness.moment();
    const decision = await third.acquire(3);
    await limiter.delete();
    await third.refund(decision);
    expect(await limiter.getConfig()).toBeUndefined();
    await expect(limiter.refund({} as never)).rejects.toThrow(TypeError);
  });

  test('an abort after the rate was deleted still ends the wait', async () => {
    const limiter = await harness.set(RATE);
    await drain(limiter);
    const stop = new AbortController();
    const aborted = rejection(limiter.acquire(1, { signal: stop.signal }));
    await harness.answered(limiter);
    await limiter.delete();
    stop.abort(new Error('changed my mind'));
    expect(await aborted).toMatchObject({ message: 'changed my mind' });
    expect(isRateNotSetError(await rejection(limiter.tryAcquire()))).toBe(true);
  });

  test.each([
    ['acquire', (limiter) => limiter.acquire(6)],
    ['acquire with a timeout', (limiter) => limiter.acquire(6, { timeout: '1d' })],
    ['tryAcquire', (limiter) => limiter.tryAcquire(6)],
    ['tryAcquire with a timeout', (limiter) => limiter.tryAcquire(6, '1d')],
  ] as [string, (limiter: ReturnType<SharedHarness['limiter']>) => Promise<unknown>][])(
    '%s of more permits than the rate rejects at once, and takes nothing',
    async (_, ask) => {
      const limiter = await harness.set(RATE);
      const error = await rejection(ask(limiter));
      expect(isRateLimitExceededError(error)).toBe(true);
      expect(error).toMatchObject({ retryAfter: Number.POSITIVE_INFINITY });
      expect((error as Error).message).toMatch(/a cost of 6 can never pass a limit of 5/);
      expect(await limiter.availablePermits()).toBe(5);
    },
  );

  test('a rate lowered below the cost of a call rejects as a rate that was always too low does', async () => {
    const limiter = await harness.set(RATE);
    await limiter.updateRate({ ...RATE, rate: 2 });
    expect(await rejection(limiter.tryAcquire(3))).toMatchObject({ retryAfter: Number.POSITIVE_INFINITY });
    expect(await limiter.tryAcquire(2)).toBe(true);
  });

  test('decisions have the present rate', async () => {
    const limiter = await harness.set(RATE);
    expect(await limiter.acquire(2)).toMatchObject({
      allowed: true,
      name: limiter.name,
      limit: 5,
      window: 3_600_000,
      remaining: 3,
      cost: 2,
      waited: 0,
      source: kind.name,
    });
    await limiter.updateRate({ rate: 9, interval: '30m' });
    expect(await limiter.acquire()).toMatchObject({ limit: 9, window: 1_800_000, remaining: 6 });
  });

  test('no permit is lost (redisson 3804): after an idle interval all are back', async () => {
    const limiter = await harness.set(RATE);
    for (let round = 0; round < 5; round += 1) {
      const stop = new AbortController();
      await limiter.tryAcquire(3);
      await limiter.tryAcquire(4);
      const aborted = rejection(limiter.acquire(5, { signal: stop.signal }));
      const waiting = limiter.tryAcquire(4, '5h');
      await harness.answered(limiter);
      await harness.clock.advance('20m');
      stop.abort();
      await aborted;
      await harness.clock.advance('5h');
      expect(await waiting).toBe(true);
      expect(await limiter.availablePermits()).toBe(5);
    }
  });
}

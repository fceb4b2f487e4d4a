import { isRateLimitExceededError, slidingLog } from '../../../packages/core/src/index.js';
import { HOUR, rejection, StoreHarness, type StoreKind } from './harness.js';

/**
 * The longest queue of a key. Each call reads and writes all earlier bookings, so this takes seconds of CPU. The bound is part of the
 * script and of its TypeScript twin: one entry for each of them, and for each table that keeps such a long value, is enough.
 */
export function crowdedContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  test('at most 1,000 calls wait for a key, and a call that need not wait still passes', async () => {
    // All are sent at once: on a busy machine the answers take a while.
    const limiter = harness.limiter(slidingLog({ limit: 10, window: '1h' }), { deadline: '1m' });
    const taken = await limiter.consume('k', { cost: 10 });
    const waits = Array.from({ length: 1_000 }, () => limiter.acquire('k'));
    await harness.answered(limiter);
    await harness.answered(limiter);
    const error = await rejection(limiter.acquire('k'));
    expect(isRateLimitExceededError(error) && error.retryAfter).toBe(101 * HOUR);
    await limiter.refund(taken);
    expect(await limiter.acquire('k')).toMatchObject({ waited: 0 });
    await harness.clock.advance('100h');
    const waited = (await Promise.all(waits)).map((decision) => decision.waited / HOUR);
    expect(waited).toEqual(Array.from(waits, (_, place) => 1 + Math.floor(place / 10)));
    expect(await limiter.peek('k')).toMatchObject({ remaining: 0 });
  }, 120_000);
}

import { isRateLimitExceededError, slidingLog } from '../../../packages/core/src/index.js';
import { HOUR, rejection, StoreHarness, type StoreKind } from './harness.js';

/**
 * The longest queue of a key. Each call reads and writes all earlier bookings, so this takes seconds of CPU. The script and its TypeScript
 * twin have the bound, so this runs once on each: on Redis and in memory; and in SQLite and Postgres, whose tables keep this long value.
 */
export function crowdedContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  test('at most 1,000 calls wait for a key, a call that need not wait still passes, and aborted ones give their permits back', async () => {
    // All are sent at once: on a busy machine the answers take a while.
    const limiter = harness.limiter(slidingLog({ limit: 10, window: '1h' }), { deadline: '1m' });
    const taken = await limiter.consume('k', { cost: 10 });
    const stop = new AbortController();
    const waits = Promise.allSettled(
      Array.from({ length: 1_000 }, (_, place) =>
        limiter.acquire('k', place < 990 ? {} : { signal: stop.signal }),
      ),
    );
    await harness.answered(limiter);
    await harness.answered(limiter);
    const error = await rejection(limiter.acquire('k'));
    expect(isRateLimitExceededError(error) && error.retryAfter).toBe(101 * HOUR);
    await limiter.refund(taken);
    expect(await limiter.acquire('k')).toMatchObject({ waited: 0 });
    stop.abort(new Error('enough'));
    await harness.clock.advance('100h');
    const ends = (await waits).map((end) =>
      end.status === 'rejected' ? end.reason.message : end.value.waited / HOUR,
    );
    expect(ends).toEqual(ends.map((_, place) => (place < 990 ? 1 + Math.floor(place / 10) : 'enough')));
    expect(await limiter.peek('k')).toMatchObject({ remaining: 10 });
  }, 120_000);
}

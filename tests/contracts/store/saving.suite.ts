import { fixedWindow, tokenBucket, tokenBucketOfRate } from '../../../packages/core/src/index.js';
import { HOUR, rejection, StoreHarness, type StoreKind, startWait } from './harness.js';

const MINUTE = HOUR / 60;
const NEVER = Number.POSITIVE_INFINITY;

/** 10 permits, one every six minutes; in batch mode all at once. */
const bucket = { capacity: 10, refill: 10, every: '1h', waitBeyondCapacity: true } as const;

/** `acquire` waits for more permits than the bucket holds until they have flowed in. */
export function savingContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  test('a call waits until its permits have flowed in, later calls wait behind it, and the bucket is empty afterwards', async () => {
    const limiter = harness.limiter(tokenBucket(bucket));
    const large = startWait(limiter, 'k', 15);
    await harness.answered(limiter);
    expect(await limiter.consume('k')).toMatchObject({
      allowed: false,
      remaining: 0,
      retryAfter: 36 * MINUTE,
    });
    const next = startWait(limiter, 'k', 1);
    await harness.answered(limiter);
    await harness.clock.advance(30 * MINUTE);
    expect(await large.acquired).toMatchObject({
      allowed: true,
      cost: 15,
      waited: 30 * MINUTE,
      remaining: 0,
    });
    await harness.clock.advance(6 * MINUTE);
    expect(await next.acquired).toMatchObject({ waited: 36 * MINUTE });
    expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: 6 * MINUTE });
    await harness.clock.advance('54m');
    expect(await limiter.peek('k')).toMatchObject({ remaining: 9 });
  });

  test('a call also waits for permits that were missing before', async () => {
    const limiter = harness.limiter(tokenBucket(bucket));
    await limiter.consume('k', { cost: 10 });
    const large = startWait(limiter, 'k', 25);
    await harness.answered(limiter);
    await harness.clock.advance('2h');
    await harness.answered(limiter);
    expect(await limiter.peek('k')).toMatchObject({ remaining: 0, retryAfter: 36 * MINUTE });
    await harness.clock.advance('30m');
    expect(await large.acquired).toMatchObject({ waited: 2.5 * HOUR });
  });

  test('a call waits for whole batches', async () => {
    const limiter = harness.limiter(tokenBucket({ ...bucket, mode: 'interval' }));
    const large = startWait(limiter, 'k', 25);
    await harness.answered(limiter);
    await harness.clock.advance('2h');
    expect(await large.acquired).toMatchObject({ waited: 2 * HOUR });
    expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: HOUR });
  });

  test('consume with a cost above the capacity is denied, and acquire with a timeout that is too short rejects', async () => {
    const limiter = harness.limiter(tokenBucket(bucket));
    expect(await limiter.consume('k', { cost: 15 })).toMatchObject({ allowed: false, retryAfter: NEVER });
    for (const timeout of [0, '29m'] as const) {
      const denied = await rejection(limiter.acquire('k', { cost: 15, timeout }));
      expect(denied).toMatchObject({ code: 'SLUICE_RATE_LIMIT_EXCEEDED', retryAfter: NEVER });
    }
    await limiter.consume('k', { cost: 5 });
    const denied = await rejection(limiter.acquire('k', { cost: 15, timeout: '59m' }));
    expect(denied).toMatchObject({ retryAfter: HOUR });
    const large = limiter.acquire('k', { cost: 15, timeout: '1h' });
    await harness.answered(limiter);
    await harness.clock.advance('1h');
    expect(await large).toMatchObject({ waited: HOUR });
  });

  test('an aborted call leaves no trace', async () => {
    const limiter = harness.limiter(tokenBucket(bucket));
    const stop = new AbortController();
    const waiting = rejection(limiter.acquire('k', { cost: 15, signal: stop.signal }));
    await harness.answered(limiter);
    await harness.clock.advance('10m');
    stop.abort(new Error('no more'));
    expect(await waiting).toMatchObject({ message: 'no more' });
    await harness.answered(limiter);
    expect(await limiter.consume('k', { cost: 10 })).toMatchObject({ allowed: true });
  });

  test('with a second policy a call resolves when both have its permits', async () => {
    const limiter = harness.limiter({
      rate: tokenBucket(bucket),
      day: fixedWindow({ limit: 30, window: '24h' }),
    });
    await limiter.consume('k', { cost: { rate: 0, day: 20 } });
    const large = startWait(limiter, 'k', 15);
    await harness.answered(limiter);
    await harness.clock.advance('24h');
    expect(await large.acquired).toMatchObject({ waited: 24 * HOUR });
    expect(await limiter.peek('k')).toMatchObject({ policies: [{ remaining: 0 }, { remaining: 15 }] });
  });

  test('tokenBucketOfRate waits beyond the capacity by default, tokenBucket rejects', async () => {
    const options = { rate: 10 / 3600, burst: 3600 };
    const { waitBeyondCapacity: _, ...plain } = bucket;
    for (const policy of [tokenBucket(plain), tokenBucketOfRate({ ...options, waitBeyondCapacity: false })]) {
      const denied = await rejection(harness.limiter(policy).acquire('k', { cost: 11 }));
      expect(denied).toMatchObject({ retryAfter: NEVER });
    }
    const limiter = harness.limiter(tokenBucketOfRate(options));
    const large = startWait(limiter, 'k', 11);
    await harness.answered(limiter);
    await harness.clock.advance('6m');
    expect(await large.acquired).toMatchObject({ waited: 6 * MINUTE });
  });

  test('a penalty above the capacity counts in full', async () => {
    const limiter = harness.limiter(tokenBucket(bucket));
    await limiter.penalty('k', 20);
    expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: HOUR + 6 * MINUTE });
  });
}

import { concurrency, type Decision, fixedWindow, tokenBucket } from '../../../packages/core/src/index.js';
import { HOUR, rejection, StoreHarness, type StoreKind } from './harness.js';

const MINUTE = 60_000;
const escalate = { after: 4, within: '1h', block: ['1m', '10m', '1d'], forgive: '1d' } as const;

/** Repeated denials in a combination with held permits, for which a call may wait. */
export function escalatingCombinedContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  test('a call that waits for held permits counts no denial, also when it waits beyond the capacity', async () => {
    const strict = { escalate: { ...escalate, after: 1, block: '2h' } };
    const slots = harness.limiter(concurrency({ limit: 1, lease: '3h' }), strict);
    const bucket = tokenBucket({ capacity: 1, refill: 1, every: '1h', waitBeyondCapacity: true });
    const tokens = harness.limiter(bucket, strict);
    const both = harness.combined({ slots, tokens });
    const keys = { slots: 'k', tokens: 'k' };
    const held = await slots.acquire('k');
    const waiting = both.acquire(keys, { cost: { tokens: 2 }, timeout: '5h' });
    await harness.answered(slots);
    expect((await both.peek(keys)).blockedFor).toBeUndefined();
    await slots.release(held);
    await harness.answered(slots);
    await harness.clock.advance('1h');
    const decision = await waiting;
    expect(decision).toMatchObject({ allowed: true, waited: HOUR });
    await both.release(decision);
  });

  test('each denied call counts once, whether or not it could wait', async () => {
    const slots = harness.limiter(concurrency({ limit: 1, lease: '30m' }));
    const rate = harness.limiter(fixedWindow({ limit: 1, window: '300d' }), { escalate });
    const both = harness.combined({ slots, rate });
    const keys = { slots: 'k', rate: 'k' };
    await rate.consume('k');
    const denied: (number | undefined)[] = [];
    for (const timeout of ['10m', 0, '10m', '10m']) {
      const error = await rejection(both.acquire(keys, { timeout }));
      denied.push((error as { decision: Decision }).decision.blockedFor);
    }
    expect(denied).toEqual([undefined, undefined, undefined, MINUTE]);
    expect(await slots.peek('k')).toMatchObject({ remaining: 1 });
  });

  test.each([
    ['to pass at once', { tokens: 1, timeout: 0, retryAfter: 2 }],
    ['to wait for its permits', { tokens: 1, timeout: '30m', retryAfter: 2 }],
    ['to wait beyond the capacity', { tokens: 2, timeout: '90m', retryAfter: 3 }],
    [
      'to wait beyond the capacity for longer than its timeout',
      { tokens: 2, timeout: '30m', retryAfter: Number.POSITIVE_INFINITY },
    ],
  ] as const)('a denial starts a block, also of a call that wants %s', async (_, options) => {
    const slots = harness.limiter(concurrency({ limit: 1, lease: '3h' }));
    const bucket = tokenBucket({ capacity: 1, refill: 1, every: '1h', waitBeyondCapacity: true });
    const tokens = harness.limiter(bucket, { escalate: { ...escalate, after: 1, block: '2h' } });
    const both = harness.combined({ slots, tokens });
    await tokens.consume('k');
    const call = both.acquire(
      { slots: 'k', tokens: 'k' },
      { cost: { tokens: options.tokens }, timeout: options.timeout },
    );
    expect(await rejection(call)).toMatchObject({ retryAfter: options.retryAfter * HOUR });
  });
}

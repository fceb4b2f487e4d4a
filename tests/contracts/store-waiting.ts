import { isRateLimitExceededError, slidingLog } from '../../packages/core/src/index.js';
import { Bench, HOUR, nextWait, rates, rejection, type StoreKind, startWait } from './store-setup.js';

/** `acquire` where permits are spent: a future moment is booked. */
export function waitingContract(kind: StoreKind): void {
  const bench = new Bench(kind);

  describe.each(Object.entries(rates))('%s waits', (name, policyOf) => {
    // A leaky bucket has waits only for what fits in: there the first call leaves at once and each next one a leak later.
    const leaks = name === 'leakyBucket';
    const fill = leaks ? 1 : 10;
    const cost = leaks ? 1 : 5;

    /** A limiter whose next permits are to be waited for. */
    const full = async () => {
      const limiter = bench.limiter(policyOf('1h'));
      await limiter.acquire('k', { cost: fill });
      return limiter;
    };

    test('all are served in the order of asking, each at the moment that it was told', async () => {
      const limiter = await full();
      const start = bench.clock.now();
      const expected: [number, number][] = [];
      const served: [number, number][] = [];
      const waits: Promise<unknown>[] = [];
      for (let place = 0; place < 5; place += 1) {
        expected.push([place, await nextWait(limiter, 'k', cost)]);
        const wait = limiter.acquire('k', { cost }).then(({ waited }) => {
          served.push([place, waited]);
          expect((bench.clock.now() - start) / 1000).toBe(waited);
        });
        waits.push(wait);
        await bench.heard(limiter);
      }
      await bench.clock.advance('4h');
      await Promise.all(waits);
      expect(served).toEqual(expected);
      const moments = expected.map(([, wait]) => wait);
      expect(moments).toEqual([...moments].sort((a, b) => a - b));
    });

    test('what would take too long is refused at once and books nothing', async () => {
      const limiter = await full();
      const wait = await nextWait(limiter, 'k', cost);
      const before = await limiter.peek('k');
      for (let i = 0; i < 3; i += 1) {
        const error = await rejection(limiter.acquire('k', { cost, timeout: wait - 1 }));
        expect(isRateLimitExceededError(error) && error.retryAfter).toBe(wait);
      }
      expect({ ...(await limiter.peek('k')) }).toEqual({ ...before });
      const waiting = limiter.acquire('k', { cost, timeout: wait });
      await bench.heard(limiter);
      await bench.clock.advance(wait);
      expect(await waiting).toMatchObject({ allowed: true, waited: wait });
    });

    test('while others wait nobody overtakes them', async () => {
      const limiter = await full();
      const first = await nextWait(limiter, 'k', cost);
      const waiting = startWait(limiter, 'k', cost);
      const denied = await limiter.consume('k', { cost: leaks ? 10 : 1 });
      expect(denied).toMatchObject({ allowed: false });
      expect(denied.retryAfter).toBeGreaterThanOrEqual(first);
      await waiting.abort();
    });

    test.each([
      ['the first', 0],
      ['the middle one', 1],
      ['the last', 2],
    ])(
      'of three waits %s is called off: the next who comes has its place, and nobody else moves',
      async (_, which) => {
        const limiter = await full();
        const moments: number[] = [];
        const waits = [];
        for (let i = 0; i < 3; i += 1) {
          moments.push(await nextWait(limiter, 'k', cost));
          waits.push(startWait(limiter, 'k', cost));
          await bench.heard(limiter);
        }
        await waits[which]!.abort();
        expect(await nextWait(limiter, 'k', cost)).toBe(moments[which]);

        waits.push(startWait(limiter, 'k', cost));
        await bench.heard(limiter);
        await bench.clock.advance('3h');
        const rest = [...waits.slice(0, which), ...waits.slice(which + 1)];
        const waited = await Promise.all(
          rest.map(({ acquired }) => acquired.then((decision) => decision.waited)),
        );
        expect(waited).toEqual([...moments.slice(0, which), ...moments.slice(which + 1), moments[which]]);
      },
    );

    test.each([
      ['one by one', false],
      ['on one signal', true],
    ])('all waits are called off, %s: as if they had never come', async (_, together) => {
      const limiter = await full();
      const before = await limiter.peek('k', { cost: 10 });
      const wait = await nextWait(limiter, 'k', cost);
      const one = new AbortController();
      const waits = Array.from({ length: leaks ? 5 : 12 }, () =>
        startWait(limiter, 'k', cost, together ? one : undefined),
      );
      await bench.heard(limiter);
      for (const waiting of waits) await waiting.abort();
      expect({ ...(await limiter.peek('k', { cost: 10 })) }).toEqual({ ...before });
      expect(await nextWait(limiter, 'k', cost)).toBe(wait);
    });

    test('waits of unlike costs for one moment are called off: each gives back its own', async () => {
      const limiter = await full();
      const before = await limiter.peek('k');
      const costs = leaks ? [1, 2, 1] : [2, 5, 3];
      const waits = [];
      for (const each of costs) {
        waits.push(startWait(limiter, 'k', each));
        await bench.heard(limiter);
      }
      for (const waiting of waits) await waiting.abort();
      expect({ ...(await limiter.peek('k')) }).toEqual({ ...before });
    });

    test('an abort while the store is asked, or before, takes nothing', async () => {
      const limiter = bench.limiter(policyOf('1h'));
      const stop = new AbortController();
      const asking = limiter.acquire('k', { cost: 5, signal: stop.signal });
      stop.abort(new Error('changed my mind'));
      await expect(asking).rejects.toThrow('changed my mind');
      await expect(limiter.acquire('k', { signal: stop.signal })).rejects.toThrow('changed my mind');
      expect(await limiter.peek('k')).toMatchObject({ remaining: 10, resetAfter: 0 });
    });

    test('another process waits behind', async () => {
      const limiter = await full();
      const other = bench.limiter(policyOf('1h'), { name: limiter.name, store: bench.another() });
      await other.peek('k'); // connected
      const first = startWait(limiter, 'k', cost);
      await bench.heard(limiter);
      const second = startWait(other, 'k', cost);
      await bench.heard(other);
      const third = startWait(limiter, 'k', cost);
      await bench.heard(limiter);
      await bench.clock.advance('3h');
      const waited = await Promise.all(
        [first, second, third].map(({ acquired }) => acquired.then((d) => d.waited)),
      );
      expect(waited).toEqual([...waited].sort((a, b) => a - b));
      expect(waited[2]).toBeGreaterThan(waited[0]!);
    });
  });
  test('1,000 may wait at a key, and no more; who can go at once still can', async () => {
    // Each reads and writes all who are booked before it, and all are asked at once: on a busy machine that takes a while.
    const limiter = bench.limiter(slidingLog({ limit: 10, window: '1h' }), { deadline: '1m' });
    const taken = await limiter.consume('k', { cost: 10 });
    const stop = new AbortController();
    const waits = Array.from({ length: 1_000 }, () => startWait(limiter, 'k', 1, stop));
    await bench.heard(limiter);
    await bench.heard(limiter);
    const error = await rejection(limiter.acquire('k'));
    expect(isRateLimitExceededError(error) && error.retryAfter).toBe(101 * HOUR);
    await limiter.refund(taken);
    expect(await limiter.acquire('k')).toMatchObject({ waited: 0 });
    stop.abort(new Error('enough'));
    for (const { acquired } of waits) await expect(acquired).rejects.toThrow('enough');
    expect(await limiter.peek('k')).toMatchObject({ remaining: 9 });
  }, 120_000);
}

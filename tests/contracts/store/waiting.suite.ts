import { isRateLimitExceededError, slidingLog } from '../../../packages/core/src/index.js';
import { uniqueName } from '../../support/redis-url.js';
import {
  HOUR,
  nextWait,
  ratesOf,
  rejection,
  StoreHarness,
  type StoreKind,
  spaced,
  startWait,
} from './harness.js';

const MINUTE = HOUR / 60;

/** `acquire` where permits are spent: a future moment is booked. */
export function waitingContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  describe.each(ratesOf(kind))('waiting calls, %s', (name, policyOf) => {
    // A leaky bucket has waits only for what fits in: there the first call leaves at once and each next one a leak later.
    const leaks = spaced.has(name);
    const fill = leaks ? 1 : 10;
    const cost = leaks ? 1 : 5;

    /** A limiter whose next permits are to be waited for. */
    const full = async () => {
      const limiter = harness.limiter(policyOf('1h'));
      await limiter.acquire('k', { cost: fill });
      return limiter;
    };

    test('resolve in order, each at its booked moment', async () => {
      const limiter = await full();
      const start = harness.clock.now();
      const expected: [number, number][] = [];
      const served: [number, number][] = [];
      const waits: Promise<unknown>[] = [];
      for (let place = 0; place < 5; place += 1) {
        expected.push([place, await nextWait(limiter, 'k', cost)]);
        const wait = limiter.acquire('k', { cost }).then(({ waited }) => {
          served.push([place, waited]);
          expect((harness.clock.now() - start) / 1000).toBe(waited);
        });
        waits.push(wait);
        await harness.answered(limiter);
      }
      await harness.clock.advance('4h');
      await Promise.all(waits);
      expect(served).toEqual(expected);
      const moments = expected.map(([, wait]) => wait);
      expect(moments).toEqual([...moments].sort((a, b) => a - b));
    });

    test('reject at once if the wait exceeds the timeout, and book nothing', async () => {
      const limiter = await full();
      const wait = await nextWait(limiter, 'k', cost);
      const before = await limiter.peek('k');
      for (let i = 0; i < 3; i += 1) {
        const error = await rejection(limiter.acquire('k', { cost, timeout: wait - 1 }));
        expect(isRateLimitExceededError(error) && error.retryAfter).toBe(wait);
      }
      expect({ ...(await limiter.peek('k')) }).toEqual({ ...before });
      const waiting = limiter.acquire('k', { cost, timeout: wait });
      await harness.answered(limiter);
      await harness.clock.advance(wait);
      expect(await waiting).toMatchObject({ allowed: true, waited: wait });
    });

    test('are overtaken by no later call', async () => {
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
      'give the moment of an aborted call (%s of three) to the next call, and keep their own',
      async (_, which) => {
        const limiter = await full();
        const moments: number[] = [];
        const waits = [];
        for (let i = 0; i < 3; i += 1) {
          moments.push(await nextWait(limiter, 'k', cost));
          waits.push(startWait(limiter, 'k', cost));
          await harness.answered(limiter);
        }
        await waits[which]!.abort();
        expect(await nextWait(limiter, 'k', cost)).toBe(moments[which]);

        waits.push(startWait(limiter, 'k', cost));
        await harness.answered(limiter);
        await harness.clock.advance('3h');
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
    ])('leave no trace when all are aborted, %s', async (_, together) => {
      const limiter = await full();
      const before = await limiter.peek('k', { cost: 10 });
      const wait = await nextWait(limiter, 'k', cost);
      const one = new AbortController();
      const waits = Array.from({ length: leaks ? 5 : 12 }, () =>
        startWait(limiter, 'k', cost, together ? one : undefined),
      );
      await harness.answered(limiter);
      for (const waiting of waits) await waiting.abort();
      expect({ ...(await limiter.peek('k', { cost: 10 })) }).toEqual({ ...before });
      expect(await nextWait(limiter, 'k', cost)).toBe(wait);
    });

    test('of different costs for one moment each refund their own permits when they are aborted', async () => {
      const limiter = await full();
      const before = await limiter.peek('k');
      const costs = leaks ? [1, 2, 1] : [2, 5, 3];
      const waits = [];
      for (const each of costs) {
        waits.push(startWait(limiter, 'k', each));
        await harness.answered(limiter);
      }
      for (const waiting of waits) await waiting.abort();
      expect({ ...(await limiter.peek('k')) }).toEqual({ ...before });
    });

    test('take nothing if they are aborted before the call, or before the store answers', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      const stop = new AbortController();
      const pending = limiter.acquire('k', { cost: 5, signal: stop.signal });
      stop.abort(new Error('changed my mind'));
      await expect(pending).rejects.toThrow('changed my mind');
      await expect(limiter.acquire('k', { signal: stop.signal })).rejects.toThrow('changed my mind');
      expect(await limiter.peek('k')).toMatchObject({ remaining: 10, resetAfter: 0 });
    });

    test('delay calls of another process', async () => {
      const limiter = await full();
      const other = harness.limiter(policyOf('1h'), { name: limiter.name, store: harness.another() });
      await other.peek('k'); // connected
      const first = startWait(limiter, 'k', cost);
      await harness.answered(limiter);
      const second = startWait(other, 'k', cost);
      await harness.answered(other);
      const third = startWait(limiter, 'k', cost);
      await harness.answered(limiter);
      await harness.clock.advance('3h');
      const waited = await Promise.all(
        [first, second, third].map(({ acquired }) => acquired.then((d) => d.waited)),
      );
      expect(waited).toEqual([...waited].sort((a, b) => a - b));
      expect(waited[2]).toBeGreaterThan(waited[0]!);
    });

    test('pass later by the margin, and at least the margin apart', async () => {
      const waits = async (margin: string | number) => {
        const limiter = harness.limiter(policyOf('1h'), { margin });
        expect(await limiter.acquire('k', { cost: fill })).toMatchObject({ waited: 0 });
        const waiting = Array.from({ length: 5 }, () => limiter.acquire('k', { cost }));
        await harness.answered(limiter);
        await harness.clock.advance('4h');
        return (await Promise.all(waiting)).map(({ waited }) => waited);
      };
      const [exact, roomy] = [await waits(0), await waits('1m')];
      for (const [i, moment] of roomy.entries()) {
        const before = i === 0 ? 0 : roomy[i - 1]!;
        expect(moment).toBeGreaterThanOrEqual(Math.max(exact[i]!, before) + MINUTE);
      }
    });

    test('pass at least the gap apart without a margin, and never slower than the rate', async () => {
      const waits = async (options: object) => {
        const limiter = harness.limiter(policyOf('1h'), { margin: 0, ...options });
        expect(await limiter.acquire('k', { cost: fill })).toMatchObject({ waited: 0 });
        const waiting = Array.from({ length: 5 }, () => limiter.acquire('k', { cost }));
        await harness.answered(limiter);
        await harness.clock.advance('4h');
        return (await Promise.all(waiting)).map(({ waited }) => waited);
      };
      const [exact, apart, even] = [await waits({}), await waits({ gap: '1m' }), await waits({ gap: '4h' })];
      expect([apart[0], even[0]]).toEqual([exact[0], exact[0]]);
      const pace = (HOUR * cost) / 10;
      for (let i = 1; i < 5; i += 1) {
        expect(apart[i]).toBe(Math.max(exact[i]!, apart[i - 1]! + MINUTE));
        expect(even[i]).toBeLessThanOrEqual(Math.max(exact[i]!, even[i - 1]! + pace));
        expect(even[i]! - even[i - 1]!).toBeGreaterThanOrEqual(Math.floor(pace));
      }
    });

    test('pass without the margin if the timeout leaves no room for it', async () => {
      const limiter = harness.limiter(policyOf('1h'), { margin: '1m' });
      await limiter.acquire('k', { cost: fill });
      const wait = await nextWait(limiter, 'k', cost);
      const waiting = limiter.acquire('k', { cost, timeout: wait });
      await harness.answered(limiter);
      await harness.clock.advance(wait);
      expect((await waiting).waited).toBe(wait);
    });

    test('are at most maxWaiting in all processes: one more rejects at once and books nothing', async () => {
      const options = { maxWaiting: 2, name: uniqueName('full') };
      const limiter = harness.limiter(policyOf('1h'), options);
      const other = harness.limiter(policyOf('1h'), { ...options, store: harness.another() });
      await limiter.acquire('k', { cost: fill });
      const first = startWait(limiter, 'k', cost);
      await harness.answered(limiter);
      const second = startWait(other, 'k', cost);
      await harness.answered(other);
      const before = await limiter.peek('k');
      for (const one of [limiter, other]) {
        const error = await rejection(one.acquire('k', { cost }));
        expect(error).toMatchObject({ code: 'SLUICE_RATE_LIMIT_EXCEEDED', queueFull: true });
      }
      expect({ ...(await limiter.peek('k')) }).toEqual({ ...before });
      await first.abort();
      const third = startWait(limiter, 'k', cost);
      await harness.answered(limiter);
      await harness.clock.advance('3h');
      await Promise.all([second.acquired, third.acquired]);
      await limiter.acquire('j', { cost: fill });
      await expect(limiter.acquire('j', { cost, timeout: 1 })).rejects.toMatchObject({ queueFull: false });
    });
  });

  test('with a margin six calls of a limit of five never pass within the window and the margin', async () => {
    const limiter = harness.limiter(slidingLog({ limit: 5, window: '1h' }), { margin: '3m' });
    const start = harness.clock.now();
    const left: number[] = [];
    const leave = () => left.push((harness.clock.now() - start) / 1000 / MINUTE);
    // Calls that need not wait pass at once, also at uneven moments.
    for (let i = 0; i < 5; i += 1) {
      expect(await limiter.acquire('k')).toMatchObject({ waited: 0 });
      leave();
      await harness.clock.advance('2m');
    }
    const waits = Array.from({ length: 12 }, () => limiter.acquire('k').then(leave));
    await harness.answered(limiter);
    await harness.clock.advance('4h');
    await Promise.all(waits);
    expect(left).toEqual([0, 2, 4, 6, 8, 63, 66, 69, 72, 75, 126, 129, 132, 135, 138, 189, 192]);
  });
}

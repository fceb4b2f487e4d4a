import { concurrency, fixedWindow, isRateLimitExceededError } from '../../../packages/core/src/index.js';
import { HOUR, rejection, StoreHarness, type StoreKind, startWait } from './harness.js';

const MINUTE = HOUR / 60;

/** Concurrency: held permits, and the queue of calls that wait for them. */
export function holdingContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);
  const limiterOf = (limit = 1, options = {}) =>
    harness.limiter(concurrency({ limit, lease: '30m', ...options }));

  describe('concurrency', () => {
    test('permits are held until they are released, and a second release returns nothing', async () => {
      const limiter = limiterOf(2);
      const first = await limiter.consume('k');
      await limiter.consume('k');
      expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: 30 * MINUTE });
      await limiter.release(first);
      await limiter.release(first);
      await limiter.refund(first);
      expect(await limiter.consume('k')).toMatchObject({ allowed: true, remaining: 0 });
      expect(await limiter.consume('k')).toMatchObject({ allowed: false });
    });

    test('retryAfter follows the pace of the holders, within the lease', async () => {
      const limiter = limiterOf(2, { queue: 1 });
      const pair = harness.limiter({
        held: concurrency({ limit: 2, lease: '30m' }),
        spent: fixedWindow({ limit: 100, window: '1h' }),
      });
      for (const each of [limiter, pair]) await each.consume('k');
      await harness.clock.advance('4m');
      for (const each of [limiter, pair]) await each.consume('k');
      await harness.clock.advance('2m');
      // They have held their permits for 6 and 2 minutes: one is released in about half of 4 minutes.
      const denied = { allowed: false, retryAfter: 2 * MINUTE };
      for (const each of [limiter, pair]) {
        expect(await each.consume('k')).toMatchObject(denied);
        expect(await each.peek('k')).toMatchObject(denied);
      }
      expect(await limiter.consume('k', { cost: 2 })).toMatchObject({ retryAfter: 4 * MINUTE });
      const late = rejection(limiter.acquire('k', { timeout: '1m' }));
      await harness.answered(limiter);
      // Two permits, because a call waits in front.
      expect(await rejection(limiter.acquire('k'))).toMatchObject({ decision: { retryAfter: 4 * MINUTE } });
      await harness.clock.advance('1m');
      expect(await late).toMatchObject({ decision: { retryAfter: 2.5 * MINUTE } });
    });

    test('a lease is renewed while its holder lives, and ends afterwards', async () => {
      const [limiter, other] = [limiterOf(1, { lease: '40m' }), limiterOf()];
      const same = harness.limiter(concurrency({ limit: 1, lease: '40m' }), {
        name: limiter.name,
        store: harness.another(),
      });
      const held = [await limiter.consume('k'), await other.consume('k')];
      for (let minutes = 0; minutes < 120; minutes += 10) {
        await harness.clock.advance('10m');
        await harness.answered(limiter);
        expect(await same.peek('k')).toMatchObject({ allowed: false });
      }
      await limiter.close(); // as a crash does, this ends the renewals and releases nothing
      await harness.clock.advance('39m');
      expect(await same.peek('k')).toMatchObject({ allowed: false });
      await harness.clock.advance('1m');
      expect(await same.consume('k')).toMatchObject({ allowed: true });
      expect(held).toHaveLength(2); // garbage is not renewed
    });

    test('each release admits the next waiting call, in order', async () => {
      const limiter = limiterOf();
      const others = [
        limiter,
        harness.limiter(concurrency({ limit: 1, lease: '30m' }), {
          name: limiter.name,
          store: harness.another(),
        }),
      ];
      let held = await limiter.acquire('k');
      expect(held).toMatchObject({ allowed: true, waited: 0 });
      const served: number[] = [];
      const waits = [];
      for (let place = 0; place < 6; place += 1) {
        const waiting = startWait(others[place % 2]!, 'k', 1);
        waits.push(
          waiting.acquired.then((decision) => {
            served.push(place);
            return decision;
          }),
        );
        await harness.answered(others[place % 2]!);
      }
      for (const waiting of waits) {
        await limiter.release(held);
        held = await waiting;
      }
      expect(served).toEqual([0, 1, 2, 3, 4, 5]);
      await limiter.release(held);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 1 });
    });

    test('a call for more permits keeps its place before calls for fewer', async () => {
      const limiter = limiterOf(3);
      const held = [await limiter.acquire('k', { cost: 2 }), await limiter.acquire('k')];
      const [large, small] = [startWait(limiter, 'k', 3), startWait(limiter, 'k', 1)];
      await harness.answered(limiter);
      await limiter.release(held[0]!);
      expect(await limiter.consume('k')).toMatchObject({ allowed: false, remaining: 0 });
      await limiter.release(held[1]!);
      await limiter.release(await large.acquired);
      expect(await small.acquired).toMatchObject({ cost: 1 });
    });

    test.each([
      ['the first', 0],
      ['the middle one', 1],
      ['the last', 2],
    ])('aborting %s of three waiting calls lets the others pass in their order', async (_, which) => {
      const limiter = limiterOf();
      let held = await limiter.acquire('k');
      const waits = [];
      for (let i = 0; i < 3; i += 1) {
        waits.push(startWait(limiter, 'k', 1));
        await harness.answered(limiter);
      }
      await waits[which]!.abort();
      waits.splice(which, 1);
      for (const waiting of waits) {
        await limiter.release(held);
        held = await waiting.acquired;
      }
      await limiter.release(held);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 1, resetAfter: 0 });
    });

    test('a call that is aborted before the store answers leaves nothing in the queue', async () => {
      const limiter = limiterOf();
      const held = await limiter.acquire('k');
      const stop = new AbortController();
      const waits = Array.from({ length: 12 }, () => startWait(limiter, 'k', 1, stop));
      for (const waiting of waits) await waiting.abort();
      await limiter.release(held);
      expect(await limiter.peek('k')).toMatchObject({ allowed: true, remaining: 1 });
    });

    test('a call rejects after its timeout, and leaves nothing in the queue', async () => {
      const limiter = limiterOf();
      const held = await limiter.acquire('k');
      const waiting = rejection(limiter.acquire('k', { timeout: '5m' }));
      await harness.answered(limiter);
      await harness.clock.advance('5m');
      const error = await waiting;
      expect(isRateLimitExceededError(error) && error.retryAfter).toBeGreaterThan(0);
      await limiter.release(held);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 1 });
    });

    test('a call that cannot pass, may not wait, or finds the queue full rejects at once', async () => {
      const limiter = limiterOf(1, { queue: 1 });
      await expect(limiter.acquire('k', { cost: 2 })).rejects.toMatchObject({
        retryAfter: Number.POSITIVE_INFINITY,
      });
      const held = await limiter.acquire('k');
      await expect(limiter.acquire('k', { timeout: 0 })).rejects.toMatchObject({ retryAfter: 30 * MINUTE });
      const waiting = startWait(limiter, 'k', 1);
      await harness.answered(limiter);
      await expect(limiter.acquire('k')).rejects.toMatchObject({ code: 'SLUICE_RATE_LIMIT_EXCEEDED' });
      await limiter.release(held);
      expect(await waiting.acquired).toMatchObject({ allowed: true });
    });

    test('maxWaiting bounds the calls that wait for held permits', async () => {
      const limiter = harness.limiter(concurrency({ limit: 1, lease: '30m' }), { maxWaiting: 1 });
      const held = await limiter.acquire('k');
      const waiting = startWait(limiter, 'k', 1);
      await harness.answered(limiter);
      for (const timeout of ['1m', '1h']) {
        await expect(limiter.acquire('k', { timeout })).rejects.toMatchObject({ queueFull: true });
      }
      await expect(limiter.acquire('k', { timeout: 0 })).rejects.toMatchObject({ queueFull: false });
      await limiter.release(held);
      expect(await waiting.acquired).toMatchObject({ allowed: true });
    });

    test('after a reset all waiting calls poll at once', async () => {
      const limiter = limiterOf(2);
      const other = harness.limiter(concurrency({ limit: 2, lease: '30m' }), {
        name: limiter.name,
        store: harness.another(),
      });
      await limiter.acquire('k', { cost: 2 });
      const waits = [startWait(limiter, 'k', 1), startWait(other, 'k', 1), startWait(other, 'k', 1)];
      for (const each of [limiter, other]) await harness.answered(each);
      await limiter.reset('k');
      const first = await Promise.race(waits.map(({ acquired }) => acquired));
      await other.release(first);
      const held = await Promise.all(waits.map(({ acquired }) => acquired));
      expect(held.map(({ allowed }) => allowed)).toEqual([true, true, true]);
    });

    test('a higher limit or the end of a block admits waiting calls at once', async () => {
      const limiter = limiterOf();
      const held = await limiter.acquire('k');
      const waiting = [startWait(limiter, 'k', 1), startWait(limiter, 'k', 1)];
      await harness.answered(limiter);
      await limiter.block('k', '1h');
      await limiter.release(held);
      await limiter.unblock('k');
      expect(await waiting[0]!.acquired).toMatchObject({ allowed: true });
      await limiter.override('k', concurrency({ limit: 2, lease: '30m' }), { expiresIn: '1h' });
      expect(await waiting[1]!.acquired).toMatchObject({ allowed: true });
    });

    test("the end of a dead holder's lease admits the waiting call", async () => {
      const limiter = limiterOf();
      const other = harness.limiter(concurrency({ limit: 1, lease: '30m' }), {
        name: limiter.name,
        store: harness.another(),
      });
      await limiter.acquire('k');
      const waits = [startWait(other, 'k', 1), startWait(other, 'k', 1)];
      await harness.answered(other);
      await limiter.close();
      for (let minutes = 0; minutes < 30; minutes += 5) {
        await harness.clock.advance('5m');
        await harness.answered(other);
      }
      const decision = await waits[0]!.acquired;
      expect(decision).toMatchObject({ allowed: true, waited: 30 * MINUTE });
      await other.release(decision);
      expect(await waits[1]!.acquired).toMatchObject({ allowed: true });
    });

    test('the signal of a task aborts when its lease is lost', async () => {
      const limiter = limiterOf();
      let signal: AbortSignal | undefined;
      const running = limiter.schedule('k', async (context) => {
        signal = context.signal;
        await new Promise((resolve) => signal!.addEventListener('abort', resolve));
        return signal!.reason;
      });
      await harness.answered(limiter);
      expect(signal?.aborted).toBe(false);
      await limiter.reset('k');
      await harness.clock.advance('10m');
      expect(String(await running)).toMatch(/lease of 'contract-.*' was lost/);
    });
  });
}

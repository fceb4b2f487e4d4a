import {
  concurrency,
  fixedWindow,
  ManualClock,
  type Store,
  StoreUnavailableError,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import { type Meter, type MeterOptions, meter } from '../../../packages/meter/src/index.js';
import type { StoreKind } from '../../contracts/store/harness.js';
import { like } from '../../support/like.js';
import { randomFrom, seedOf } from '../../support/random.js';
import { uniqueName } from '../../support/redis-url.js';
import { rejection } from '../../support/rejection.js';

/** 2025-01-31 23:59:30 in UTC, half a minute before a day and a month end. */
const BEFORE_MIDNIGHT = Date.UTC(2025, 0, 31, 23, 59, 30) * 1000;

/** What every meter promises, on a kind of store. */
export function meterSuite(kind: StoreKind): void {
  describe(`a meter on ${kind.name}`, () => {
    let clock: ManualClock;
    let store: Store;
    const opened: { close(): Promise<unknown> }[] = [];
    const open = <T extends { close(): Promise<unknown> }>(thing: T): T => {
      opened.push(thing);
      return thing;
    };
    beforeEach(() => {
      clock = new ManualClock(BEFORE_MIDNIGHT);
      store = open(kind.open(clock));
    });
    afterEach(async () => {
      for (const one of opened.splice(0).reverse()) await one.close();
    });

    const metered = <Axes extends string>(
      options: Pick<MeterOptions<string, Axes>, 'axes'> & Partial<MeterOptions<string, NoInfer<Axes>>>,
    ): Meter<string, Axes> => open(meter({ name: uniqueName('meter'), store, deadline: '10s', ...options }));
    const tokens = (limit: number) => fixedWindow({ limit, window: '1d', timeZone: 'UTC' });

    describe('holds', () => {
      test('concurrent calls spend at most 100 of 100 tokens, where checks before each call let 663 pass (LiteLLM #18730)', async () => {
        const budget = metered({ axes: { tokens: tokens(100) } });
        const each = [221, 221, 221].map((_, i) => budget.hold('key', { tokens: 40 + i }));
        const holds = (await Promise.allSettled(each)).flatMap((one) =>
          one.status === 'fulfilled' ? [one.value] : [],
        );
        expect(holds).toHaveLength(2);
        expect(await rejection(budget.hold('key', { tokens: 40 }))).toMatchObject({
          code: 'SLUICE_BUDGET_EXCEEDED',
          status: 429,
          axis: 'tokens',
          scope: 'key',
          left: 19,
          limit: 100,
          retryAfter: 30_000,
          headers: { 'Retry-After': '30' },
        });
        for (const hold of holds) await hold.settle({ tokens: 30 });
        expect((await budget.status('key')).left).toEqual({ tokens: 40 });
      });

      test('four calls of $0.15 spend $0.45 of $0.45, not $0.60 (LiteLLM #40002)', async () => {
        const budget = metered({ axes: { usd: tokens(450_000) } });
        const calls = Array.from({ length: 4 }, () => budget.hold('key', { usd: 150_000 }));
        const results = await Promise.allSettled(calls);
        expect(results.map(({ status }) => status).sort()).toEqual([
          'fulfilled',
          'fulfilled',
          'fulfilled',
          'rejected',
        ]);
        for (const one of results) if (one.status === 'fulfilled') await one.value.settle({ usd: 150_000 });
        expect((await budget.status('key')).lines).toMatchObject([{ used: 450_000, held: 0, left: 0 }]);
      });

      test.each(['keep', 'refund'] as const)(
        'take all axes and scopes or none, with lapse %p',
        async (lapse) => {
          const budget = metered({
            axes: {
              usd: tokens(1_000),
              output: tokenBucket({ capacity: 50, refill: 50, every: '1m' }),
              running: concurrency({ limit: 2 }),
            },
            scopes: (user) => ['tenant', { key: `user:${user}`, axes: ['usd'] }],
            lapse,
          });
          const first = await budget.hold('ann', { usd: 600, output: 10 });
          expect(first.state.left).toEqual({ usd: 400, output: 40, running: 1 });
          await rejection(budget.hold('bob', { usd: 500, output: 10 }));
          await rejection(budget.hold('bob', { usd: 100, output: 41 }));
          expect((await budget.status('bob')).left).toEqual({ usd: 400, output: 40, running: 1 });
          const second = await budget.hold('bob', { usd: 1 });
          expect(await rejection(budget.hold('eve', {}))).toMatchObject({
            axis: 'running',
            left: 0,
            limit: 2,
          });
          await second.cancel();
          await first.settle({ usd: 10, output: 5 });
          expect(
            (await budget.status('ann')).lines.map(({ scope, axis, left }) => [scope, axis, left]),
          ).toEqual([
            ['tenant', 'usd', 990],
            ['tenant', 'output', 45],
            ['tenant', 'running', 2],
            ['user:ann', 'usd', 990],
          ]);
        },
      );

      test('of different scopes may have the same id, and a second call with an id in use is refused', async () => {
        const budget = metered({ axes: { tokens: tokens(100) } });
        const [ann] = [
          await budget.hold('ann', { tokens: 40 }, { id: '1' }),
          await budget.hold('bob', { tokens: 40 }, { id: '1' }),
        ];
        const again = budget.hold('ann', { tokens: 40 }, { id: '1' });
        expect(await rejection(again)).toMatchObject({ code: 'SLUICE_HOLD_IN_USE', id: '1' });
        await ann.settle({ tokens: 10 });
        expect(await rejection(budget.hold('ann', { tokens: 1 }, { id: '1' }))).toMatchObject({
          status: 409,
        });
        expect((await budget.status('ann')).left).toEqual({ tokens: 90 });
      });
    });

    describe('more', () => {
      // otari's table of top-ups: only the difference must fit.
      test.each(['keep', 'refund'] as const)(
        'takes the difference if it fits, and nothing otherwise, with lapse %p',
        async (lapse) => {
          const budget = metered({ axes: { tokens: tokens(100) }, lapse });
          const other = await budget.hold('key', { tokens: 20 });
          const hold = await budget.hold('key', { tokens: 50 });
          expect(await hold.more({ tokens: 30 })).toBe(true);
          expect(hold.amounts).toEqual({ tokens: 80 });
          expect(await hold.more({ tokens: 1 })).toBe(false);
          expect(hold.denial).toMatchObject({ axis: 'tokens', left: 0 });
          expect(hold.amounts).toEqual({ tokens: 80 });
          await other.cancel();
          expect(await Promise.all([hold.more({ tokens: 15 }), hold.more({ tokens: 15 })])).toEqual([
            true,
            false,
          ]);
          expect((await hold.settle({ tokens: 96 })).left).toEqual({ tokens: 4 });
        },
      );
    });

    describe('settle', () => {
      test('is done once, also repeated and at the same time, and its first result is the result', async () => {
        const budget = metered({ axes: { tokens: tokens(100) } });
        const hold = await budget.hold('key', { tokens: 50 });
        const [first, second] = await Promise.all([hold.settle({ tokens: 10 }), hold.settle({ tokens: 90 })]);
        await hold.cancel();
        expect([first.left, second.left]).toEqual([{ tokens: 90 }, { tokens: 90 }]);
        expect((await budget.status('key')).left).toEqual({ tokens: 90 });
        await expect(hold.more({ tokens: 1 })).rejects.toThrow(TypeError);
      });

      test('and hold and more are done once after lost replies', async () => {
        const lossy = lossyStore(store);
        const budget = metered({ axes: { tokens: tokens(100) }, store: lossy.store });
        lossy.lose = 1;
        const hold = await budget.hold('key', { tokens: 10 });
        lossy.lose = 1;
        expect(await hold.more({ tokens: 10 })).toBe(true);
        lossy.lose = 2; // the repeated call is lost, too
        expect(await rejection(hold.settle({ tokens: 15 }))).toBeInstanceOf(StoreUnavailableError);
        expect((await hold.settle({ tokens: 15 })).left).toEqual({ tokens: 85 });
        lossy.lose = 2;
        expect(await rejection(budget.hold('key', { tokens: 5 }, { id: 'a' }))).toBeInstanceOf(
          StoreUnavailableError,
        );
        const again = await budget.hold('key', { tokens: 5 }, { id: 'a' });
        expect(again.state.left).toEqual({ tokens: 80 });
      });

      test('counts an axis that is left out as it was held', async () => {
        const budget = metered({ axes: { input: tokens(100), output: tokens(100) } });
        const hold = await budget.hold('key', { input: 30, output: 50 });
        expect((await hold.settle({ output: 20 })).left).toEqual({ input: 70, output: 80 });
      });

      test.each(['keep', 'refund'] as const)(
        'counts more than was held as a debt, with lapse %p',
        async (lapse) => {
          const bucket = tokenBucket({ capacity: 100, refill: 100, every: '1m' });
          const budget = metered({ axes: { usd: tokens(100), output: bucket }, lapse });
          const hold = await budget.hold('key', { usd: 60, output: 60 });
          expect((await hold.settle({ usd: 130, output: 160 })).left).toEqual({ usd: -30, output: -60 });
          await rejection(budget.hold('key', { output: 1 }));
          clock.set(BEFORE_MIDNIGHT + 30_000_000); // the next day; half a minute pays 50 tokens
          expect((await budget.status('key')).left).toEqual({ usd: 100, output: -10 });
        },
      );

      test.each(['keep', 'refund'] as const)(
        'a bucket that was full after the hold began gets back what was taken later, with lapse %p',
        async (lapse) => {
          const bucket = tokenBucket({ capacity: 1_000, refill: 60, every: '1m' });
          const budget = metered({ axes: { output: bucket }, lapse, ttl: '10m' });
          const hold = await budget.hold('key', { output: 10 });
          clock.set(BEFORE_MIDNIGHT + 20_000_000); // 10 s pay the hold, and fill the bucket
          await hold.more({ output: 900 });
          expect((await hold.settle({ output: 100 })).left).toEqual({ output: lapse === 'keep' ? 890 : 900 });
          clock.set(BEFORE_MIDNIGHT + 140_000_000);
          expect((await budget.status('key')).left).toEqual({ output: 1_000 });
        },
      );

      test.each(['keep', 'refund'] as const)(
        'corrects the window in which the hold began, with lapse %p',
        async (lapse) => {
          const month = fixedWindow({ limit: 100, window: '1 month', timeZone: 'UTC' });
          const budget = metered({ axes: { usd: month }, ttl: '10m', lapse });
          const [less, more] = [await budget.hold('key', { usd: 50 }), await budget.hold('key', { usd: 10 })];
          clock.set(BEFORE_MIDNIGHT + 60_000_000);
          await (await budget.hold('key', { usd: 40 })).settle({ usd: 40 });
          await less.settle({ usd: 10 });
          await more.settle({ usd: 90 });
          expect((await budget.status('key')).left).toEqual({ usd: 60 });
        },
      );
    });

    test('settle counts what was used if a window began with the first call after the hold', async () => {
      const hour = fixedWindow({ limit: 100, window: '1h' });
      const budget = metered({ axes: { usd: hour }, ttl: '1h', lapse: 'refund' });
      const hold = await budget.hold('key', { usd: 60 });
      clock.set(clock.now() + 1_000_000);
      await (await budget.hold('key', { usd: 10 })).settle({ usd: 10 });
      expect((await hold.settle({ usd: 50 })).left).toEqual({ usd: 40 });
    });

    describe.each([
      ['slidingLog', slidingLog({ limit: 100, window: '1m' })],
      ['slidingWindow', slidingWindow({ limit: 100, window: '1m', slots: 6 })],
    ] as const)('settle of a hold that grew, with %s,', (_, policy) => {
      test('gives back what was not used, also permits that were taken after the begin', async () => {
        const budget = metered({ axes: { output: policy }, ttl: '10m' });
        const hold = await budget.hold('key', { output: 10 });
        clock.set(clock.now() + 20_000_000);
        await hold.more({ output: 60 });
        clock.set(clock.now() + 15_000_000);
        expect((await hold.settle({ output: 25 })).left).toEqual({ output: 75 });
      });

      test('also if it began with nothing', async () => {
        const budget = metered({ axes: { output: policy }, ttl: '10m' });
        const hold = await budget.hold('key', { output: 0 });
        clock.set(clock.now() + 20_000_000);
        await hold.more({ output: 60 });
        await hold.cancel();
        expect((await budget.status('key')).left).toEqual({ output: 100 });
      });

      test('leaves what another call took later in its window', async () => {
        const budget = metered({ axes: { output: policy }, ttl: '10m' });
        const hold = await budget.hold('key', { output: 50 });
        clock.set(clock.now() + 40_000_000);
        const other = await budget.hold('key', { output: 20 });
        await hold.more({ output: 10 });
        await other.settle({ output: 20 });
        expect((await hold.settle({ output: 0 })).left).toEqual({ output: 80 });
        clock.set(clock.now() + 30_000_000);
        expect((await budget.status('key')).left).toEqual({ output: 80 });
      });

      test('gives nothing back once its begin has left the window, so the permits of others stay', async () => {
        const budget = metered({ axes: { output: policy }, ttl: '10m' });
        const hold = await budget.hold('key', { output: 50 });
        clock.set(clock.now() + 80_000_000);
        await (await budget.hold('key', { output: 70 })).settle({ output: 70 });
        await hold.more({ output: 10 });
        expect((await hold.settle({ output: 0 })).left).toEqual({ output: 20 });
      });
    });

    describe('a hold whose process has died', () => {
      test('counts with lapse keep, and frees what ran at once', async () => {
        const budget = metered({ axes: { usd: tokens(100), running: concurrency({ limit: 1 }) }, ttl: '2s' });
        await budget.hold('key', { usd: 60 });
        expect(await rejection(budget.hold('key', { usd: 1 }))).toMatchObject({ axis: 'running' });
        clock.set(clock.now() + 2_250_000);
        expect((await budget.status('key')).left).toEqual({ usd: 40, running: 1 });
      });

      test('leaves no phantom with lapse refund (LiteLLM #36926, #27639)', async () => {
        const budget = metered({ axes: { usd: tokens(100) }, ttl: '2s', lapse: 'refund' });
        await budget.hold('key', { usd: 100 });
        const denied = await rejection(budget.hold('key', { usd: 1 }));
        expect((denied as { retryAfter: number }).retryAfter).toBeGreaterThan(1_999);
        expect((denied as { retryAfter: number }).retryAfter).toBeLessThanOrEqual(2_250);
        clock.set(clock.now() + 2_250_000);
        expect((await budget.hold('key', { usd: 100 })).state.left).toEqual({ usd: 0 });
      });

      test('lasts as long as it is renewed', async () => {
        const budget = metered({ axes: { usd: tokens(100) }, ttl: '2s', lapse: 'refund' });
        const hold = await budget.hold('key', { usd: 100 });
        for (let i = 0; i < 5; i += 1) {
          clock.set(clock.now() + 1_900_000);
          expect(await hold.renew()).toBe(true);
          await rejection(budget.hold('key', { usd: 1 }));
        }
      });

      // otari's table of a time to live: after the first the hold is not live, after the second it is not known.
      test('can be settled for one more ttl, and is then forgotten', async () => {
        const budget = metered({ axes: { usd: tokens(100) }, ttl: '2s', lapse: 'refund' });
        const [late, later] = [await budget.hold('key', { usd: 40 }), await budget.hold('key', { usd: 40 })];
        clock.set(clock.now() + 3_000_000);
        expect((await late.settle({ usd: 30 })).left).toEqual({ usd: 70 });
        clock.set(clock.now() + 3_000_000);
        expect(await rejection(later.settle({ usd: 30 }))).toMatchObject({
          code: 'SLUICE_HOLD_LAPSED',
          id: later.id,
        });
        expect((await budget.status('key')).left).toEqual({ usd: 70 });
      });

      test('that was given back cannot be renewed if its amounts no longer fit', async () => {
        const budget = metered({ axes: { usd: tokens(100) }, ttl: '2s', lapse: 'refund' });
        const hold = await budget.hold('key', { usd: 60 });
        clock.set(clock.now() + 2_250_000);
        const other = await budget.hold('key', { usd: 60 });
        expect(await hold.renew()).toBe(false);
        await other.cancel();
        expect(await hold.renew()).toBe(true);
      });
    });

    test('a soft axis reports and admits', async () => {
      const reports: unknown[] = [];
      const onSoftLimit = (denial: object, who: string) => reports.push({ ...denial, who });
      const budget = metered({
        axes: { usd: tokens(100), output: tokens(10) },
        soft: ['output'],
        onSoftLimit,
      });
      await budget.hold('key', { usd: 1, output: 10 });
      expect(reports).toEqual([]);
      await budget.hold('key', { usd: 1, output: 5 });
      expect(reports).toMatchObject([{ axis: 'output', scope: 'key', left: -5, limit: 10, who: 'key' }]);
      await rejection(budget.hold('key', { usd: 99, output: 5 }));
    });

    test('an override of an axis is a plan, and a block stops all holds', async () => {
      const budget = metered({ axes: { usd: tokens(100) } });
      await budget.limiters.usd!.override('key', tokens(1_000), { expiresIn: '1h' });
      const hold = await budget.hold('key', { usd: 900 });
      expect(hold.state.lines).toMatchObject([{ limit: 1_000, left: 100 }]);
      await budget.limiters.usd!.block('key', '10m');
      expect(await hold.more({ usd: 1 })).toBe(false);
      const settled = await hold.settle({ usd: 950 });
      expect(settled).toMatchObject({
        left: { usd: 0 },
        lines: [{ left: 50, blockedFor: expect.any(Number) }],
      });
    });

    test('the sum of settled and live amounts is never above the limit, over random streams and deaths', async () => {
      for (let run = 0; run < 4; run += 1) await randomStreams(seedOf(run));
    }, 60_000);

    /** Amounts within the estimate: at every moment the sum of what was settled and of live holds is within the limit. */
    async function randomStreams(seed: number): Promise<void> {
      const random = randomFrom(seed);
      const LIMIT = 200;
      const policies = [
        fixedWindow({ limit: LIMIT, window: '10m', align: 'clock' }),
        slidingWindow({ limit: LIMIT, window: '10m' }),
      ];
      const budget = metered({ axes: { usd: policies[random(2)]! }, ttl: '4s' });
      // A window of ten minutes begins.
      clock.set(BEFORE_MIDNIGHT + 30_000_000);
      const end = clock.now() + 9 * 60_000_000;
      let begun = 0;
      let settled = 0;
      const live: { hold: Awaited<ReturnType<typeof budget.hold>>; lapse: string }[] = [];
      for (let step = 0; step < 120 && clock.now() < end; step += 1) {
        const one = live[random(Math.max(1, live.length))];
        const what = random(6);
        if (what < 2 || one === undefined) {
          const lapse = random(2) === 0 ? 'keep' : 'refund';
          const hold = await budget.hold('key', { usd: random(40) }, { lapse }).catch((error) => {
            if (error.code !== 'SLUICE_BUDGET_EXCEEDED') throw error;
          });
          if (hold === undefined) continue;
          begun += 1;
          live.push({ hold, lapse });
        } else if (what === 2) {
          await one.hold.more({ usd: random(20) });
        } else if (what === 3) {
          const used = random(one.hold.amounts.usd! + 1);
          await one.hold.settle({ usd: used });
          settled += used;
          live.splice(live.indexOf(one), 1);
        } else if (what === 4) {
          // Its process dies. What it held counts, or not.
          if (one.lapse === 'keep') settled += one.hold.amounts.usd!;
          live.splice(live.indexOf(one), 1);
        } else {
          // A living process renews in time.
          clock.set(clock.now() + random(3_000_000));
          for (const each of live) expect(await each.hold.renew()).toBe(true);
        }
        const held = live.reduce((sum, { hold }) => sum + hold.amounts.usd!, 0);
        expect(settled + held).toBeLessThanOrEqual(LIMIT);
      }
      expect(begun).toBeGreaterThan(8);
    }
  });
}

/** A store whose replies can be lost: the call was decided. */
function lossyStore(store: Store) {
  const lossy = {
    lose: 0,
    store: like(store, {
      decide: async (call) => {
        const answer = await store.decide(call);
        if (lossy.lose === 0) return answer;
        lossy.lose -= 1;
        throw new StoreUnavailableError('the reply was lost');
      },
    }),
  };
  return lossy;
}

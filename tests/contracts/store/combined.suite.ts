import {
  CombinedLimiter,
  concurrency,
  fixedWindow,
  gcra,
  slidingLog,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import { HOUR, ratesOf, rejection, StoreHarness, type StoreKind, spaced, startWait } from './harness.js';

/** Several limiters, each with a key of its own: all or nothing. */
export function combinedContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  describe.each(ratesOf(kind))('%s for all keys, with a limit for each', (name, policyOf) => {
    const members = () => {
      const perUser = harness.limiter(fixedWindow({ limit: 3, window: '1h' }));
      const everybody = harness.limiter(policyOf('1h'));
      return { perUser, everybody, both: harness.combined({ perUser, everybody }) };
    };

    test('a denial by one takes nothing from the other', async () => {
      const { both, everybody, perUser } = members();
      const ada = { perUser: 'ada', everybody: 'all' };
      for (let calls = 0; calls < 3; calls += 1)
        expect(await both.consume(ada)).toMatchObject({ allowed: true });
      expect(await both.consume(ada)).toMatchObject({
        allowed: false,
        policy: 'perUser',
        policies: [
          { name: 'perUser', remaining: 0 },
          { name: 'everybody', remaining: 7 },
        ],
      });
      const bob = { perUser: 'bob', everybody: 'all' };
      expect(await both.consume(bob, { cost: { everybody: 8 } })).toMatchObject({
        allowed: false,
        policy: 'everybody',
      });
      expect(await perUser.peek('bob')).toMatchObject({ remaining: 3 });
      const decision = await both.consume(bob, { cost: { everybody: 7, perUser: 2 } });
      expect(decision).toMatchObject({ allowed: true, remaining: 0 });
      await both.refund(decision);
      expect(await everybody.peek('all')).toMatchObject({ remaining: 7 });
      expect(await perUser.peek('bob')).toMatchObject({ remaining: 3 });
    });

    test('a call that waits for one delays no call in the other', async () => {
      if (spaced.has(name)) return; // takes in nothing for longer than it takes to leak out
      const { both, everybody } = members();
      const ada = { perUser: 'ada', everybody: 'all' };
      await both.consume(ada, { cost: { perUser: 3, everybody: 1 } });
      const waiting = both.acquire(ada);
      await harness.answered(everybody);
      expect(await everybody.consume('all', { cost: 5 })).toMatchObject({ allowed: true });
      expect(await both.consume({ perUser: 'bob', everybody: 'all' })).toMatchObject({ allowed: true });
      await harness.clock.advance('1h');
      expect(await waiting).toMatchObject({ allowed: true, waited: HOUR });
    });
  });

  test('an aborted wait refunds the permits of all members', async () => {
    const first = harness.limiter(slidingLog({ limit: 1, window: '1h' }));
    const second = harness.limiter(tokenBucket({ capacity: 2, refill: 2, every: '1h' }));
    const both = harness.combined({ first, second });
    await both.consume({ first: 'a', second: 'b' });
    const stop = new AbortController();
    const waiting = rejection(both.acquire({ first: 'a', second: 'b' }, { signal: stop.signal }));
    await harness.answered(first);
    expect(await second.peek('b')).toMatchObject({ remaining: 1, resetAfter: 1.5 * HOUR });
    stop.abort(new Error('enough'));
    expect(await waiting).toMatchObject({ message: 'enough' });
    expect(await first.peek('a')).toMatchObject({ resetAfter: HOUR });
    expect(await second.peek('b')).toMatchObject({ remaining: 1, resetAfter: HOUR / 2 });
  });

  test('reserve, settle and cancel take costs by the names of the members', async () => {
    const calls = harness.limiter({
      minute: gcra({ limit: 5, period: '1m' }),
      hour: gcra({ limit: 50, period: '1h' }),
    });
    const tokens = harness.limiter(gcra({ limit: 100, period: '1h' }));
    const both = harness.combined({ calls, tokens });
    const keys = { calls: 1, tokens: 'all' };
    const reservation = await both.reserve(keys, { tokens: 40 });
    expect(reservation.decision.policies.map(({ name }) => name)).toEqual([
      'calls.minute',
      'calls.hour',
      'tokens',
    ]);
    await reservation.settle({ tokens: 25 });
    expect(await tokens.peek('all')).toMatchObject({ remaining: 75 });
    expect((await calls.peek(1)).policies).toMatchObject([{ remaining: 4 }, { remaining: 49 }]);
    await (await both.reserve(keys, { tokens: 75 })).cancel();
    expect((await both.peek(keys)).policies).toMatchObject([
      { remaining: 4 },
      { remaining: 49 },
      { remaining: 75 },
    ]);
  });

  test('a waiting call keeps the held permits of the first member while it waits for the second', async () => {
    const policy = concurrency({ limit: 1, lease: '30m' });
    const [one, two] = [harness.limiter(policy), harness.limiter(policy)];
    const both = harness.combined({ one, two });
    const keys = { one: 'k', two: 'k' };
    const held = [await one.acquire('k'), await two.acquire('k')];
    const waiting = both.acquire(keys);
    await harness.answered(one);
    const first = one.name < two.name ? 0 : 1; // in the order of their storage keys
    await [one, two][first]!.release(held[first]!);
    for (let minutes = 0; minutes < 90; minutes += 10) {
      await harness.answered(one);
      expect(await [one, two][first]!.peek('k')).toMatchObject({ allowed: false });
      await harness.clock.advance('10m');
    }
    await harness.answered(one);
    await [one, two][1 - first]!.release(held[1 - first]!);
    const decision = await waiting;
    expect(decision.allowed).toBe(true);
    expect(await both.consume(keys)).toMatchObject({ allowed: false });
    await both.release(decision);
    expect(await both.peek(keys)).toMatchObject({ allowed: true });
  });

  test('a call that a rate denies holds no concurrency permits', async () => {
    const slots = harness.limiter(concurrency({ limit: 1, lease: '30m' }));
    const rate = harness.limiter(fixedWindow({ limit: 2, window: '1h' }));
    const both = harness.combined({ slots, rate });
    const keys = { slots: 'k', rate: 'k' };
    const held = await both.acquire(keys);
    const waiting = startWait(slots, 'k', 1);
    await harness.answered(slots);
    await both.release(held);
    await slots.release(await waiting.acquired);
    expect(await rate.peek('k')).toMatchObject({ remaining: 1 });
    await rate.consume('k');
    await expect(both.acquire(keys, { timeout: '10m' })).rejects.toMatchObject({
      decision: { policy: 'rate' },
    });
    expect(await slots.peek('k')).toMatchObject({ remaining: 1 });
    const later = both.schedule(keys, ({ decision }) => decision.waited);
    await harness.answered(slots);
    await harness.clock.advance('1h');
    expect(await later).toBe(HOUR);
    expect(await slots.peek('k')).toMatchObject({ remaining: 1 });
  });

  test('members share one store, and each call names a key for each', async () => {
    const here = harness.limiter(gcra({ limit: 5, period: '1h' }));
    const there = harness.limiter(gcra({ limit: 5, period: '1h' }), { store: harness.another() });
    expect(() => new CombinedLimiter({ here, there })).toThrow(/not in the same store/);
    for (const wrong of [{}, null, { here: {} }, [here]])
      expect(() => new CombinedLimiter(wrong as never)).toThrow(TypeError);
    const both = harness.combined({ here, other: harness.limiter(gcra({ limit: 5, period: '1h' })) });
    await expect(both.consume({ here: 'k' } as never)).rejects.toMatchObject({
      code: 'SLUICE_KEY_RESOLUTION',
    });
    await expect(both.consume({ here: 'k', other: 'k', third: 'k' } as never)).rejects.toThrow(
      "no option 'third'",
    );
    expect(await here.peek('k')).toMatchObject({ remaining: 5 });
  });
}

import { concurrency, gcra, tokenBucket } from '../../../packages/core/src/index.js';
import { StoreHarness, type StoreKind } from './harness.js';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The few things that a store must be seen to do by its own clock, and between two that are open at once. */
export function liveContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  test('a retry passes at retryAfter', async () => {
    const limiter = harness.limiter(tokenBucket({ capacity: 1, refill: 1, every: '1s' }), {
      store: harness.live(),
    });
    // On a stalled machine a second may pass between two calls.
    let decision = await limiter.consume('k');
    while (decision.allowed) decision = await limiter.consume('k');
    await sleep(decision.retryAfter + 5);
    expect(await limiter.consume('k')).toMatchObject({ allowed: true });
  });

  test('acquire resolves the calls of each limiter in order, and never before their booked moments', async () => {
    const [store, policy] = [harness.live(), tokenBucket({ capacity: 1, refill: 10, every: '1s' })];
    const limiter = harness.limiter(policy, { store });
    const other = harness.limiter(policy, { name: limiter.name, store: harness.another(store) });
    const orders: number[][] = [[], []];
    const start = performance.now();
    const waits = [];
    for (let place = 0; place < 6; place += 1) {
      const caller = [limiter, other][place % 2]!;
      const served = caller.acquire('k').then(() => {
        orders[place % 2]!.push(place);
        expect(performance.now() - start).toBeGreaterThanOrEqual(place * 100 - 1);
      });
      waits.push(served);
      await caller.peek('k'); // so that the next call comes later, although on another connection
    }
    await Promise.all(waits);
    // Two limiters that a busy machine holds up are served in any order.
    expect(orders).toEqual([
      [0, 2, 4],
      [1, 3, 5],
    ]);
  });

  test('calls of one process resolve in booking order', async () => {
    const policy = gcra({ limit: 1000, period: '1s', burst: 1 });
    const limiter = harness.limiter(policy, { store: harness.live() });
    const order: number[] = [];
    const places = Array.from({ length: 120 }, (_, place) => place);
    await Promise.all(places.map((place) => limiter.acquire('k').then(() => order.push(place))));
    expect(order).toEqual(places);
  });

  test('a holder keeps its lease; the lease of a dead holder ends and admits the waiting call', async () => {
    const [store, policy] = [harness.live(), concurrency({ limit: 1, lease: '2s' })];
    const limiter = harness.limiter(policy, { store });
    const other = harness.limiter(policy, { name: limiter.name, store: harness.another(store) });
    const kept = await limiter.acquire('k');
    await sleep(3_000);
    expect(await other.peek('k')).toMatchObject({ allowed: false });
    const waiting = other.acquire('k', { timeout: '20s' });
    await other.peek('k');
    await limiter.close(); // as a crash does, this ends the renewals and releases nothing
    expect(await waiting).toMatchObject({ allowed: true });
    expect(kept).toMatchObject({ allowed: true });
  });
}

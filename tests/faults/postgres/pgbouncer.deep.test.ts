import { concurrency, RateLimiter } from '../../../packages/core/src/index.js';
import { startPgBouncer } from '../../support/postgres/pgbouncer.js';
import { closeLater, limiterOf, ownPostgres, storeAt } from './servers.js';

/** Fewer server connections than stores: transactions of different stores share them. */
async function bouncedStores(count: number) {
  const { url } = await ownPostgres();
  const bouncer = await startPgBouncer(url, { config: { default_pool_size: 2 } });
  closeLater(() => bouncer.stop());
  return Array.from({ length: count }, () => storeAt({ url: bouncer.url, listen: false }));
}

test('stores behind pgbouncer in transaction mode share exactly the limit', async () => {
  const stores = await bouncedStores(6);
  const limiters = stores.map((store) => limiterOf(store, 100));
  const calls = Array.from({ length: 50 }, () => limiters.map((limiter) => limiter.consume('k'))).flat();
  const decisions = await Promise.all(calls);
  expect(decisions.filter(({ degraded }) => degraded)).toEqual([]);
  expect(decisions.filter(({ allowed }) => allowed).length).toBe(100);
});

test('a waiting call behind pgbouncer is admitted after a release in another process', async () => {
  const stores = await bouncedStores(2);
  const [one, other] = stores.map((store) => {
    const policy = concurrency({ limit: 1, lease: '30s' });
    const limiter = new RateLimiter({ name: 'held', policy, store, deadline: '10s' });
    closeLater(() => limiter.close());
    return limiter;
  });
  const held = await one!.acquire('k');
  const waiting = other!.acquire('k', { timeout: '30s' });
  expect(await one!.peek('k')).toMatchObject({ allowed: false });
  await one!.release(held);
  const admitted = await waiting;
  expect(admitted).toMatchObject({ allowed: true, degraded: false });
});

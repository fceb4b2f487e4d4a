import { setTimeout as sleep } from 'node:timers/promises';
import { fixedWindow, gcra, RateLimiter, slidingLog, tokenBucket } from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { sql } from '../../support/postgres/index.js';
import { TcpProxy } from '../../support/redis/tcp-proxy.js';
import { rejection } from '../../support/rejection.js';
import { closeLater, limiterOf, ownPostgres, storeAt } from './servers.js';

const LIMIT = 5;
/** ms. */
const [WINDOW, BEHIND] = [10_000, 5_000];
const KEYS = 10;

const kinds = {
  fixedWindow: fixedWindow({ limit: LIMIT, window: WINDOW }),
  slidingLog: slidingLog({ limit: LIMIT, window: WINDOW }),
  tokenBucket: tokenBucket({ capacity: LIMIT, refill: LIMIT, every: WINDOW }),
  gcra: gcra({ limit: LIMIT, period: WINDOW, burst: LIMIT }),
};

test('a replica that was 5 s behind admits at most one limit more, and locks nobody out longer than a window', async () => {
  const primary = await ownPostgres();
  const link = await TcpProxy.start(primary.port); // between the servers
  closeLater(() => link.close());
  const replica = await primary.replica({ port: link.port });
  closeLater(() => replica.stop());

  const front = await TcpProxy.start(primary.port); // before the primary, and later before the replica
  closeLater(() => front.close());
  const url = new URL(primary.url);
  const limiters = (address: string) => {
    const store = storeAt({ url: address, unlogged: false });
    return Object.entries(kinds).map(([name, policy]) => {
      const limiter = new RateLimiter({ name, policy, store, deadline: '10s' });
      closeLater(() => limiter.close());
      return limiter;
    });
  };
  url.port = String(front.port);
  const before = limiters(url.href);
  const keys = Array.from({ length: KEYS }, (_, i) => `k${i}`);
  const admitted = new Map<string, number>();
  const takeAll = async (all: RateLimiter[], most: number) => {
    for (const limiter of all)
      for (const key of keys) {
        const decisions = await Promise.all(Array.from({ length: most }, () => limiter.consume(key)));
        expect(decisions.filter(({ degraded }) => degraded)).toEqual([]);
        const name = `${limiter.name} ${key}`;
        const count = decisions.filter(({ allowed }) => allowed).length;
        admitted.set(name, (admitted.get(name) ?? 0) + count);
      }
  };
  const start = performance.now();
  await takeAll(before, 2);
  await eventually(async () => {
    const rows = await sql(replica.url, 'SELECT count(*)::int AS count FROM sluice').catch(() => []);
    return Number(rows[0]?.count) >= KEYS * before.length;
  });
  link.blackhole(); // from now on the replica learns nothing
  await sleep(BEHIND);
  await takeAll(before, LIMIT);
  await primary.kill();
  link.disconnectAll();
  await sql(replica.url, 'SELECT pg_promote()');
  const after = limiters(replica.url);
  await takeAll(after, LIMIT);
  const lasted = performance.now() - start;
  // What refills during the run, and one limit more for what the replica has not seen.
  const most = LIMIT + LIMIT + Math.ceil((lasted / WINDOW) * LIMIT) + LIMIT;
  for (const [name, count] of admitted) expect([name, count <= most]).toEqual([name, true]);
  for (const limiter of after)
    for (const key of keys) {
      const { allowed, retryAfter } = await limiter.peek(key);
      if (!allowed) expect(retryAfter).toBeLessThanOrEqual(WINDOW);
    }
  await sleep(WINDOW);
  for (const limiter of after)
    for (const key of keys)
      expect(await limiter.consume(key)).toMatchObject({ allowed: true, degraded: false });
}, 180_000);

test('a standby is an outage, also for an UNLOGGED table, and decides once it is promoted', async () => {
  const primary = await ownPostgres();
  await limiterOf(storeAt(primary.url), LIMIT).consume('k'); // makes the table
  const replica = await primary.replica();
  closeLater(() => replica.stop());
  await eventually(async () => {
    const [row] = await sql(replica.url, "SELECT to_regclass('sluice') IS NOT NULL AS found");
    return row!.found === true;
  });
  const store = storeAt(replica.url);
  const limiter = limiterOf(store, LIMIT, { failurePolicy: 'deny' });
  expect(await limiter.consume('k')).toMatchObject({ allowed: false, degraded: true });
  expect(await rejection(store.connect())).toMatchObject({ reason: 'READONLY', neverSent: true });
  await sql(replica.url, 'SELECT pg_promote()');
  await eventually(async () => (await limiter.consume('k')).allowed);
}, 60_000);

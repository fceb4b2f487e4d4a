import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import postgres from 'postgres';
import { concurrency, RateLimiter, type Store } from '../../../packages/core/src/index.js';
import type { PostgresStore } from '../../../packages/postgres/src/index.js';
import { eventually } from '../../support/eventually.js';
import { sql } from '../../support/postgres/index.js';
import { TcpProxy } from '../../support/redis/tcp-proxy.js';
import { closeLater, ownPostgres, storeAt } from './servers.js';

/** ms: a probe, its wait for an answer, and a new connection take a quarter of it. */
const PATIENCE = 50_000;

/** Listens. The function that it returns counts how often waiting calls were woken. */
async function lookedIn(store: PostgresStore): Promise<() => number> {
  let looked = 0;
  await store.listen!('k', () => {
    looked += 1;
  });
  return () => looked;
}

/** Resolves when a message of another process has arrived. */
async function hears(url: string, looked: () => number): Promise<void> {
  const before = looked();
  await eventually(async () => {
    await sql(url, `NOTIFY "sluice sluice", 'another process'`);
    return looked() > before;
  }, 100);
}

test.each(['when it listens', 'while it connects'])(
  'a listening connection that falls silent %s is replaced, and waiting calls look again',
  async (moment) => {
    const { port, url } = await ownPostgres();
    const proxy = await TcpProxy.start(port);
    closeLater(() => proxy.close());
    const through = new URL(url);
    through.port = String(proxy.port);
    const addresses = [url, through.href]; // of the store's own connection, and of the first that listens
    const store = storeAt({ connect: () => new Client(addresses.shift() ?? url) });
    await store.connect();
    if (moment === 'while it connects') proxy.blackhole();
    const looked = await lookedIn(store);
    if (moment === 'when it listens') await eventually(async () => looked() > 0);
    proxy.blackhole();
    const before = looked();
    // When the connection is given up, and when the next one listens.
    await eventually(async () => looked() >= before + 2, 100, PATIENCE);
    await hears(url, looked);
  },
  120_000,
);

const LISTENING = "FROM pg_stat_activity WHERE query ILIKE 'listen %'";

test('waiting calls look again when postgres.js has connected again to listen', async () => {
  const { url } = await ownPostgres();
  const store = storeAt({ connect: () => postgres(url, { max: 1 }) });
  await store.connect();
  const looked = await lookedIn(store);
  await hears(url, looked);
  await sleep(500); // messages under way arrive
  const before = looked();
  expect(await sql(url, `SELECT pg_terminate_backend(pid) ${LISTENING}`)).toHaveLength(1);
  await eventually(async () => looked() > before, 100);
});

test('postgres.js hears of a release in a table with the longest name', async () => {
  const { url } = await ownPostgres();
  const table = 't'.repeat(63);
  const limiterAt = (store: Store) => {
    const policy = concurrency({ limit: 1, lease: '1h' });
    const limiter = new RateLimiter({ name: 'held', policy, store, deadline: '10s' });
    closeLater(() => limiter.close());
    return limiter;
  };
  const holder = limiterAt(storeAt({ url, table }));
  const waiter = limiterAt(storeAt({ connect: () => postgres(url, { max: 1 }), table }));
  const first = await holder.acquire('job');
  const second = waiter.acquire('job');
  await eventually(async () => (await sql(url, `SELECT pid ${LISTENING}`)).length === 1);
  await sleep(500); // from here on it polls after a third of its lease
  await holder.release(first);
  expect(await second).toMatchObject({ allowed: true, degraded: false });
});

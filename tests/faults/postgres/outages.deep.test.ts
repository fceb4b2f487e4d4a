import { Client } from 'pg';
import { eventually } from '../../support/eventually.js';
import { sql } from '../../support/postgres/index.js';
import { startsSecondTrip } from './second-trip.js';
import { limiterOf, ownPostgres, storeAt, takenOf, takeOf } from './servers.js';

const LIMIT = 1_000;
/** ms: the server ends the turn of a process that stands still for longer. */
const LONGEST_STANDSTILL = 1_000;
const KILL_OTHERS =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'sluice'";

test('a server that ends its connections again and again loses no answered call, and counts none twice', async () => {
  const { url } = await ownPostgres();
  const store = storeAt(url);
  await store.connect();
  const take = takeOf(store, LIMIT, 'k');
  let [answered, unknown] = [0, 0];
  for (let round = 0; round < 15; round += 1) {
    const calls = Array.from({ length: 3 }, async () => {
      await take();
      answered += 1;
    });
    const killed = sql(url, KILL_OTHERS);
    const settled = await Promise.allSettled(calls);
    await killed;
    for (const one of settled) if (one.status === 'rejected' && !one.reason.neverSent) unknown += 1;
  }
  const taken = await eventually(() => takenOf(store, LIMIT, 'k').catch(() => undefined));
  expect(answered).toBeGreaterThan(0);
  expect(taken).toBeGreaterThanOrEqual(answered);
  expect(taken).toBeLessThanOrEqual(answered + unknown);
});

test.each([
  { unlogged: true, how: 'crash', left: 0 },
  { unlogged: true, how: 'fast', left: 3 },
  { unlogged: false, how: 'crash', left: 3 },
] as const)(
  'after a $how restart, a table with unlogged: $unlogged has $left of 3 counts',
  async ({ unlogged, how, left }) => {
    const postgres = await ownPostgres();
    const store = storeAt({ url: postgres.url, unlogged });
    const limiter = limiterOf(store, LIMIT);
    for (let call = 0; call < 3; call += 1) await limiter.consume('k');
    await postgres.restart(how);
    const decision = await eventually(async () => {
      const one = await limiter.peek('k');
      return one.degraded ? undefined : one;
    });
    expect(LIMIT - decision.remaining).toBe(left);
  },
);

test('while the server is frozen the failure policy decides, and afterwards the server', async () => {
  const postgres = await ownPostgres();
  const limiter = limiterOf(storeAt(postgres.url), LIMIT, { deadline: '300ms', failurePolicy: 'allow' });
  await limiter.consume('k');
  await postgres.freeze();
  expect(await limiter.consume('k')).toMatchObject({ allowed: true, degraded: true });
  await postgres.thaw();
  await eventually(async () => !(await limiter.consume('k')).degraded);
});

test('a process that stands still for half a second with its rows locked still keeps its turn', async () => {
  const { url } = await ownPostgres();
  let stalls = 0;
  const connect = (): Client => {
    const client = new Client(url);
    const query = client.query.bind(client) as (statement: { text: string }) => unknown;
    const stalling = (statement: { text: string }): unknown => {
      if (startsSecondTrip(statement)) {
        stalls += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500); // as garbage collection does
      }
      return query(statement);
    };
    return Object.assign(client, { query: stalling as Client['query'] });
  };
  const take = takeOf(storeAt({ connect }), LIMIT, 'k'); // of a store whose limiters wait 100 ms, which is the default
  for (let kept = 0; kept < 3; ) {
    const start = performance.now();
    try {
      expect(await take()).toMatchObject({ allowed: true });
      kept += 1;
    } catch (error) {
      if (performance.now() - start < LONGEST_STANDSTILL) throw error; // otherwise the machine was stalled as well
    }
  }
  expect(stalls).toBeGreaterThanOrEqual(3);
});

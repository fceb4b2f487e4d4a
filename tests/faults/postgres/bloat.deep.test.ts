import { eventually } from '../../support/eventually.js';
import { sql } from '../../support/postgres/index.js';
import { limiterOf, ownPostgres, storeAt } from './servers.js';

/** Turns of the store, and updates that the server makes by itself: over the network they would take a hundred times as long. */
const [TURNS, UPDATES] = [3_000, 300_000];
const LIMIT = 10_000_000;

/**
 * Expects that `updates` updates of the row have reused the space in its page. A few could not: a snapshot of another session keeps dead
 * versions, on a busy machine for long. Without reuse each update takes 60 bytes and more.
 */
async function expectNoBloat(url: string, updates: number): Promise<void> {
  const stats = await eventually(async () => {
    const [row] = await sql(
      url,
      `SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot, n_dead_tup::int AS dead,
        pg_table_size('sluice')::int AS bytes FROM pg_stat_user_tables WHERE relname = 'sluice'`,
    );
    return Number(row?.updates) >= updates ? row : undefined;
  });
  expect(Number(stats.hot) / Number(stats.updates)).toBeGreaterThan(0.99);
  expect(Number(stats.dead)).toBeLessThan(500 + updates / 50);
  expect(Number(stats.bytes)).toBeLessThan(200 * 1024 + updates * 4);
}

test('updates of one key reuse the space in its page, and leave few dead row versions', async () => {
  const { url } = await ownPostgres();
  const limiter = limiterOf(storeAt(url), LIMIT);
  for (let turn = 0; turn < TURNS; turn += 1) await limiter.consume('k');
  await expectNoBloat(url, TURNS - 1);
});

test('300,000 updates of one key, each in a transaction of its own, leave as few', async () => {
  const { url } = await ownPostgres();
  // A snapshot of autovacuum keeps dead versions for as long as it lasts. Without it the server reuses the space by itself.
  await sql(url, 'ALTER SYSTEM SET autovacuum = off');
  await sql(url, 'SELECT pg_reload_conf()');
  await limiterOf(storeAt(url), LIMIT).consume('k');
  await sql(
    url,
    `DO $$
    DECLARE kept sluice;
    BEGIN
      SELECT * INTO STRICT kept FROM sluice WHERE key LIKE '%{k}';
      FOR turn IN 1..${UPDATES} LOOP
        UPDATE sluice SET entry = kept.entry, expires = kept.expires WHERE key = kept.key;
        COMMIT;
      END LOOP;
    END $$`,
  );
  await expectNoBloat(url, UPDATES);
}, 300_000);

import { eventually } from '../../support/eventually.js';
import { sql } from '../../support/postgres/index.js';
import { limiterOf, ownPostgres, storeAt } from './servers.js';

const TURNS = 3_000;

test('updates of one key reuse the space in its page, and leave few dead row versions', async () => {
  const { url } = await ownPostgres();
  const limiter = limiterOf(storeAt(url), 10_000_000);
  for (let turn = 0; turn < TURNS; turn += 1) await limiter.consume('k');
  const stats = await eventually(async () => {
    const [row] = await sql(
      url,
      `SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot, n_dead_tup::int AS dead,
        pg_table_size('sluice')::int AS bytes FROM pg_stat_user_tables WHERE relname = 'sluice'`,
    );
    return Number(row?.updates) >= TURNS - 1 ? row : undefined;
  });
  expect(Number(stats.hot) / Number(stats.updates)).toBeGreaterThan(0.99);
  expect(Number(stats.dead)).toBeLessThan(500);
  expect(Number(stats.bytes)).toBeLessThan(256 * 1024);
}, 300_000);

import { count } from '../../../words.js';
import { postgresCheck } from '../check.js';

/** Autovacuum leaves fewer dead row versions when it keeps up, or fewer than live ones. */
const DEAD = 50_000;
/** The smallest number of updates that is judged, and the smallest share of them that should reuse space. */
const [UPDATES, CHEAP] = [10_000, 0.9];

/** Checks whether old versions of rows go away. */
export const vacuum = postgresCheck({
  about: 'vacuum',
  why: {
    'autovacuum-off':
      'Each decision leaves an old version of its row, and nothing removes those: the table grows without end.',
    'dead-tuples':
      'Autovacuum does not keep up, or an old transaction holds it back: the table grows, and decisions get slower.',
    'updates-not-hot': 'They write the index as well, which takes time and leaves more behind.',
  },
  async look(server, report) {
    const { off, dead, live, updates, hot } = await server.row(
      `SELECT current_setting('autovacuum') = 'off' OR current_setting('track_counts') = 'off' OR coalesce(
          (SELECT option_value IN ('false', 'off', '0', 'no') FROM pg_options_to_table(reloptions) WHERE option_name = 'autovacuum_enabled'), false
        ) AS off,
        n_dead_tup::float8 AS dead, n_live_tup::float8 AS live, n_tup_upd::float8 AS updates, n_tup_hot_upd::float8 AS hot
      FROM pg_class AS c LEFT JOIN pg_stat_all_tables AS s ON s.relid = c.oid WHERE c.oid = to_regclass($1)`,
      [server.table],
    );
    if (off === undefined) return; // a missing table is reported
    const { table } = server;
    if (off)
      report.warning(
        'autovacuum-off',
        `Autovacuum does not look at ${table}`,
        `ALTER TABLE ${table} RESET (autovacuum_enabled); and autovacuum = on, track_counts = on in postgresql.conf.`,
      );
    const many = Number(dead) >= DEAD && Number(dead) > Number(live);
    if (many)
      report.warning(
        'dead-tuples',
        `The table ${table} has ${count(Number(dead), 'dead row version')}, and ${live} live ones`,
        `VACUUM ${table}; then find out what holds autovacuum back: old transactions, or autovacuum_naptime.`,
      );
    const share = Number(updates) === 0 ? 1 : Number(hot) / Number(updates);
    const slow = Number(updates) >= UPDATES && share < CHEAP;
    if (slow)
      report.warning(
        'updates-not-hot',
        `${Math.round(share * 100)} % of ${count(Number(updates), 'update')} of ${table} reused space in their page`,
        `ALTER TABLE ${table} SET (fillfactor = 50); no index but the key; then VACUUM FULL ${table} in a quiet hour.`,
      );
    if (!off && !many && !slow) report.ok(count(Number(dead ?? 0), 'dead row version'));
  },
});

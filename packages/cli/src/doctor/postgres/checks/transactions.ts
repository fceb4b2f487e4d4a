import { postgresCheck } from '../check.js';

/** Seconds. */
const OLD = 300;

/** Checks for transactions that keep vacuum from its work. */
export const transactions = postgresCheck({
  about: 'transactions',
  why: {
    'transaction-old':
      'Vacuum removes no row version that it may still see: the table of limits grows with each decision, and gets slower.',
    'transactions-hidden': 'A transaction of another user that nobody ends makes the table of limits grow.',
  },
  async look(server, report) {
    const { age, pid, state, hidden } = await server.row(`
      SELECT extract(epoch FROM clock_timestamp() - min(xact_start))::int AS age,
        (array_agg(pid ORDER BY xact_start))[1] AS pid, (array_agg(state ORDER BY xact_start))[1] AS state,
        NOT pg_has_role('pg_read_all_stats', 'USAGE') AS hidden
      FROM pg_stat_activity WHERE xact_start IS NOT NULL AND backend_type = 'client backend' AND pid <> pg_backend_pid()`);
    if (Number(age ?? 0) >= OLD)
      report.warning(
        'transaction-old',
        `A transaction is open for ${age} s (${state}, process ${pid})`,
        `Find its program in pg_stat_activity; SELECT pg_terminate_backend(${pid}) ends it, and idle_in_transaction_session_timeout would have.`,
      );
    else if (hidden)
      report.note(
        'transactions-hidden',
        'This user does not see the transactions of others',
        'GRANT pg_read_all_stats TO this user, or run sluice doctor as another.',
      );
    else report.ok('No transaction is old');
  },
});

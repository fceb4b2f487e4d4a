import { count } from '../../../words.js';
import { postgresCheck } from '../check.js';

const MANY = 0.8;

/** Checks whether more connections can be opened. */
export const connections = postgresCheck({
  about: 'connections',
  why: {
    'connections-many':
      'When they are used up, a process that starts or reconnects gets none, and failure policies decide.',
  },
  async look(server, report) {
    const { used, most } = await server.row(`
      SELECT (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most`);
    const what = `${used} of ${count(Number(most), 'connection')} ${Number(used) === 1 ? 'is' : 'are'} in use`;
    if (Number(used) < MANY * Number(most)) report.ok(what);
    else
      report.warning(
        'connections-many',
        what,
        'ALTER SYSTEM SET max_connections, then a restart; or fewer connections in the pools of your application.',
      );
  },
});

import { postgresCheck } from '../check.js';

/** Checks whether the address leads to a pooler, such as pgbouncer. */
export const pooler = postgresCheck({
  about: 'pooler',
  why: {
    'pooler-transaction':
      'A LISTEN through it hears nothing, so calls that wait would poll late, and prepared statements can be missing: calls fail.',
    'pooler-session': 'It only adds a hop: a store has one connection of its own, and holds it.',
  },
  async look(server, report) {
    const process = async (one: typeof server) => (await one.row('SELECT pg_backend_pid() AS pid')).pid;
    const other = server.again();
    try {
      await other.connect();
      const [own, others] = [await process(server), await process(other)];
      // A pooler makes up the id that it sends at a login.
      if (own === server.loginProcess) report.ok('The address leads to Postgres itself');
      else if (own === others)
        report.warning(
          'pooler-transaction',
          'The address leads to a pooler that shares server connections between transactions (pgbouncer: pool_mode = transaction)',
          'postgresStore({ url, listen: false }), or give it the address of the server itself.',
        );
      else
        report.note(
          'pooler-session',
          'The address leads to a pooler with a server connection for each client',
          'Give postgresStore the address of the server itself, if its processes can reach it.',
        );
    } finally {
      await other.close();
    }
  },
});

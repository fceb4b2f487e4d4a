import { postgresCheck } from '../check.js';

/** The oldest version that has all functions, and the oldest that its authors maintain. */
const [USABLE, MAINTAINED] = [13, 14];

/** Checks the version, whether it takes writes, and its defaults. */
export const server = postgresCheck({
  about: 'server',
  why: {
    'server-too-old': 'It lacks functions that each decision calls: every call fails.',
    'server-old': 'Its authors mend no more faults in it, and Sluice is not tested with it.',
    'server-read-only': 'Each decision writes: every call fails, and failure policies decide.',
    'isolation-default': 'Sluice sets READ COMMITTED for its own transactions: this is for your information.',
  },
  async look(server, report) {
    const {
      version,
      standby,
      read_only: readOnly,
      isolation,
    } = await server.row(`
      SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS standby,
        current_setting('transaction_read_only') AS read_only, current_setting('default_transaction_isolation') AS isolation`);
    const major = Math.floor(Number(version) / 10_000);
    const what = `This is Postgres ${major}`;
    if (major < USABLE) report.error('server-too-old', what, `Use Postgres ${MAINTAINED} or later.`);
    else if (major < MAINTAINED) report.warning('server-old', what, `Use Postgres ${MAINTAINED} or later.`);
    if (standby)
      report.error(
        'server-read-only',
        'The server is a standby',
        'Give the address of the primary, or of several servers with target_session_attrs=read-write.',
      );
    else if (readOnly === 'on')
      report.error(
        'server-read-only',
        'default_transaction_read_only is on for this user or database',
        'ALTER ROLE … SET default_transaction_read_only = off, or the same of the database.',
      );
    if (isolation !== 'read committed')
      report.note(
        'isolation-default',
        `default_transaction_isolation is ${isolation}`,
        'Nothing to do for limits. Your other transactions must be ready to run again.',
      );
    if (major >= MAINTAINED && !standby && readOnly !== 'on') report.ok(what);
  },
});

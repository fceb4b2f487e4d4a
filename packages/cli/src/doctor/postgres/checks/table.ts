import type { Report } from '../../check.js';
import { postgresCheck } from '../check.js';
import type { ExaminedPostgres, Row } from '../server.js';

type Id =
  | 'table-missing'
  | 'table-foreign'
  | 'right-missing'
  | 'table-unlogged'
  | 'table-logged'
  | 'table-index'
  | 'table-trigger';

const RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];
const COLUMNS = 'key text, entry bytea, expires bigint';

/** Checks the table: is it there, is it ours, and may this user do what decisions do. */
export const table = postgresCheck<Id>({
  about: 'table',
  why: {
    'table-missing': 'The first call creates it. If its user may not, every call fails.',
    'table-foreign': 'It belongs to another program: every call fails.',
    'right-missing': 'Decisions need it: calls fail, and failure policies decide.',
    'table-unlogged':
      'It is fast. A crash of the server empties it, and a replica does not have it: each limit then starts again once.',
    'table-logged': 'Counts survive a crash. Each turn of calls waits until the disk has it.',
    'table-index':
      'Each decision changes that column: it writes the index, too, and cannot reuse the space in its page. Decisions get slower, and the table grows.',
    'table-trigger': 'It runs within each decision, while the keys are locked.',
  },
  async look(server, report) {
    const found = await server.row(
      'SELECT to_regclass($1)::oid AS id, has_schema_privilege(coalesce($2, current_schema()), $3) AS creates',
      [server.table, server.place.schema ?? null, 'CREATE'],
    );
    if (found.id === null) missing(server, found, report);
    else await present(server, report);
  },
});

function missing({ table }: ExaminedPostgres, { creates }: Row, report: Report<Id>): void {
  const what = `There is no table ${table} yet`;
  if (creates)
    report.note(
      'table-missing',
      what,
      'Nothing, if the store is new. Otherwise give --table the name of its table.',
    );
  else
    report.error(
      'table-missing',
      `${what}, and this user may not create it`,
      'GRANT CREATE ON SCHEMA …, or let another user create it; docs/postgres.md has the statement.',
    );
}

async function present(server: ExaminedPostgres, report: Report<Id>): Promise<void> {
  const { columns, logged, rights } = await server.row(
    `SELECT relpersistence <> 'u' AS logged,
      (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
        FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns,
      (SELECT string_agg(one, ', ') FROM unnest($2::text[]) AS one WHERE NOT has_table_privilege(c.oid, one)) AS rights
    FROM pg_class AS c WHERE c.oid = to_regclass($1)`,
    [server.table, RIGHTS],
  );
  if (columns !== COLUMNS) {
    const what = `The table ${server.table} has the columns ${columns}`;
    report.error('table-foreign', what, 'Give the store a table of its own, and its name to --table.');
    return;
  }
  if (rights !== null)
    report.error(
      'right-missing',
      `This user lacks ${rights} on ${server.table}`,
      `GRANT ${rights} ON ${server.table} TO the user of your processes.`,
    );
  await additions(server, report);
  if (logged)
    report.note(
      'table-logged',
      `The table ${server.table} is LOGGED`,
      `ALTER TABLE ${server.table} SET UNLOGGED, if counts need not survive a crash.`,
    );
  else
    report.note(
      'table-unlogged',
      `The table ${server.table} is UNLOGGED`,
      `ALTER TABLE ${server.table} SET LOGGED, if counts must survive a crash.`,
    );
  if (rights === null) report.ok(`The table ${server.table} is there, and this user may use it`);
}

/** Reports what another program has added to the table. */
async function additions(server: ExaminedPostgres, report: Report<Id>): Promise<void> {
  const indexes = await server.rows(
    `SELECT indexrelid::regclass::text AS name FROM pg_index
    WHERE indrelid = to_regclass($1) AND NOT indisprimary ORDER BY 1`,
    [server.table],
  );
  for (const { name } of indexes)
    report.warning(
      'table-index',
      `The table ${server.table} has the index ${name}`,
      `DROP INDEX CONCURRENTLY ${name}`,
    );
  const triggers = await server.rows(
    'SELECT quote_ident(tgname) AS name FROM pg_trigger WHERE tgrelid = to_regclass($1) AND NOT tgisinternal ORDER BY 1',
    [server.table],
  );
  for (const { name } of triggers)
    report.warning(
      'table-trigger',
      `The table ${server.table} has the trigger ${name}`,
      `DROP TRIGGER ${name} ON ${server.table}`,
    );
}

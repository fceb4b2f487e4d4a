/**
 * Everything that is said to Postgres. A turn is a transaction of two round trips: `begin` and `lock`, then `keep`, `undo` and `commit`.
 *
 * What must not be changed without its test:
 *
 * - Row locks, taken in one order, by bytes (`COLLATE "C"`): two turns never wait for each other. Decisions come after the locks. A condition in a
 *   sub-select is not checked again after a wait, so it cannot take the place of a lock.
 * - `clock_timestamp()` stands outside the statement that locks and needs its result. In the same target list it is computed before the wait
 *   for the lock, and `now()` is the beginning of the transaction: times would go back from one turn to the next.
 * - READ COMMITTED is said, because the database may have another default: with SERIALIZABLE every turn that waited would fail.
 * - `AND key = ANY($…)` beside the join: without it the plan becomes a scan of the whole table once the table was analyzed.
 * - No index but the key: every update can then reuse the space in its page (HOT), which `fillfactor` leaves free.
 */
export interface Sql {
  /** The column types of a table that is ours, as `inspect` returns them. */
  readonly columns: string;
  /** One row: the columns and the primary key of the table; nulls if there is no table. */
  readonly inspect: string;
  readonly create: string;
  begin(deadline: number): string;
  /** $1 keys. A row for each key that exists, and one without an entry: the transaction, and the clock in µs. */
  readonly lock: string;
  /** $1 to $3 keys that exist, entries, expiries; $4 the transaction. Returns how many were kept, and whether the transaction is still the same. */
  readonly update: string;
  /**
   * $1 to $3 of keys that did not exist, $4 to $6 of keys that did, $7 keys to remove, $8 the transaction of `lock`. Returns how many new keys are
   * kept, and whether this is still the same transaction. If another process has inserted one of them meanwhile, nothing else is done.
   */
  readonly keep: string;
  /** $1 the new keys. Removes those that `keep` has inserted, unless it has inserted all. */
  readonly undo: string;
  readonly notify: string;
  /** $1 the key after which to look, $2 how many to look at, $3 now (null: the database's clock). Returns the last key it has looked at. */
  readonly sweep: string;
}

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint';

/** Is it still the transaction of `lock`? Some clients replace a lost connection without a word. */
const same = (transaction: string): string => `pg_current_xact_id()::text = ${transaction}::text`;

/** An identifier of SQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** An array of Postgres, as text. A driver that makes it from JavaScript's arrays takes several times as long. */
export const arrayOf = (texts: readonly string[]): string =>
  `{${texts.map((text) => (PLAIN.test(text) ? `"${text}"` : `"${text.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;
const PLAIN = /^[^"\\]*$/;

/** The same, of bytes. */
export const bytesArrayOf = (all: readonly Buffer[]): string =>
  `{${all.map((bytes) => `"\\\\x${bytes.toString('hex')}"`).join(',')}}`;

/** @param id tells the messages of this process from those of others */
export function sqlOf(
  names: { readonly schema: string | undefined; readonly table: string; readonly channel: string },
  unlogged: boolean,
  id: string,
): Sql {
  const { schema } = names;
  const table = schema === undefined ? quoted(names.table) : `${quoted(schema)}.${quoted(names.table)}`;
  return {
    columns: 'key text "C", entry bytea, expires bigint; key',
    inspect: `
      SELECT (
        SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod) || CASE WHEN attcollation = 0 THEN '' ELSE
          ' "' || (SELECT collname FROM pg_collation WHERE oid = attcollation) || '"' END, ', ' ORDER BY attnum)
        FROM pg_attribute WHERE attrelid = found.id AND attnum > 0 AND NOT attisdropped
      ) || '; ' || coalesce((
        SELECT string_agg(attname, ', ') FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY(indkey)
        WHERE indrelid = found.id AND indisprimary
      ), '')
      FROM (SELECT to_regclass(${literal(table)}) AS id) AS found`,
    // The lock lets one process create it: two that do so at once can both see that there is none, and one of them fails.
    create: `
      BEGIN;
      SET LOCAL client_min_messages = warning;
      SELECT pg_advisory_xact_lock(hashtext('sluice'), hashtext(${literal(table)}));
      CREATE ${unlogged ? 'UNLOGGED ' : ''}TABLE IF NOT EXISTS ${table}
        (key text COLLATE "C" PRIMARY KEY, entry bytea NOT NULL, expires bigint NOT NULL)
        WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
      COMMIT`,
    // A process that is frozen with its rows locked loses them. enable_seqscan: a plan that is kept must not be one for an empty table.
    begin: (deadline) =>
      `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${deadline}; ` +
      `SET LOCAL idle_in_transaction_session_timeout = ${2 * deadline}; SET LOCAL enable_seqscan = off`,
    lock: `
      WITH locked AS MATERIALIZED (
        SELECT key, entry, expires FROM ${table} WHERE key = ANY($1::text[]) ORDER BY key COLLATE "C" FOR UPDATE
      )
      SELECT key, entry, expires FROM locked
      UNION ALL SELECT pg_current_xact_id()::text, NULL, ${NOW} FROM (SELECT count(*) FROM locked) AS every`,
    update: `
      WITH updated AS (
        UPDATE ${table} AS old SET entry = made.entry, expires = made.expires
        FROM unnest($1::text[], $2::bytea[], $3::bigint[]) AS made (key, entry, expires)
        WHERE old.key = made.key AND old.key = ANY($1::text[]) AND ${same('$4')}
        RETURNING 1
      )
      SELECT count(*), ${same('$4')} FROM updated`,
    // An insert into a key that another turn inserts now waits for that turn, whose own inserts come in the same order.
    keep: `
      WITH inserted AS (
        INSERT INTO ${table} (key, entry, expires)
        SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[]) AS made (key, entry, expires)
        WHERE ${same('$8')} ORDER BY made.key COLLATE "C"
        ON CONFLICT (key) DO NOTHING RETURNING 1
      ), counted AS (
        SELECT count(*) AS kept, ${same('$8')} AS same FROM inserted
      ), ready AS (
        SELECT kept = cardinality($1::text[]) AND same AS yes FROM counted
      ), updated AS (
        UPDATE ${table} AS old SET entry = made.entry, expires = made.expires
        FROM unnest($4::text[], $5::bytea[], $6::bigint[]) AS made (key, entry, expires)
        WHERE old.key = made.key AND old.key = ANY($4::text[]) AND (SELECT yes FROM ready)
      ), removed AS (
        DELETE FROM ${table} WHERE key = ANY($7::text[]) AND (SELECT yes FROM ready)
      )
      SELECT kept, same FROM counted`,
    // COMMIT is on its way already. A failing statement would end it, but each would be an error in the server's log.
    undo: `
      DELETE FROM ${table} WHERE key = ANY($1::text[]) AND xmin = pg_current_xact_id()::xid AND cardinality($1::text[]) > (
        SELECT count(*) FROM ${table} WHERE key = ANY($1::text[]) AND xmin = pg_current_xact_id()::xid
      )`,
    // Postgres gives each commit with a message a lock on the whole database: only for calls that wait.
    notify: `NOTIFY ${quoted(names.channel)}, ${literal(id)}`,
    // Locked rows are in use. The condition is checked again on the locked row: a call may have renewed it meanwhile.
    sweep: `
      WITH step AS MATERIALIZED (
        SELECT key, expires FROM ${table} WHERE key > $1::text ORDER BY key COLLATE "C" LIMIT $2::int
      ), removed AS (
        DELETE FROM ${table} WHERE expires <= coalesce($3::bigint, ${NOW}) AND key IN (
          SELECT key FROM ${table}
          WHERE key = ANY(ARRAY(SELECT key FROM step)) AND expires <= coalesce($3::bigint, ${NOW}) FOR UPDATE SKIP LOCKED
        )
      )
      SELECT max(key), count(*) FROM step`,
  };
}

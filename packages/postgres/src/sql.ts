/**
 * Everything that is said to Postgres. A turn is a transaction of two round trips: `begin` and `lock`, then `update` or `keep`, `undo`, and COMMIT.
 *
 * - Rows are locked in one order, by bytes (`COLLATE "C"`), so that two turns never wait for each other. Decisions come after the locks: a condition
 *   in a sub-select is not checked again after a wait, so it cannot take the place of a lock.
 * - `clock_timestamp()` is outside the query that locks, and needs its result. In the same list of columns it is read before the wait for
 *   the lock, and `now()` is the beginning of the transaction: time would go back from one turn to the next.
 * - READ COMMITTED is said, because the database may have another default: with SERIALIZABLE each turn that has waited would fail.
 * - `AND old.key = ANY(…)` beside the join: without it the plan becomes a scan of the whole table once that was analyzed.
 * - No index but the key: updates then reuse the space in their page (HOT), which `fillfactor` leaves free.
 */
export type Sql = ReturnType<typeof sqlOf>;

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint';

/** Is it still the transaction of `lock`? Some clients, and poolers that are set up wrongly, replace a connection without a word. */
const same = (transaction: string): string => `pg_current_xact_id()::text = ${transaction}::text`;

/** An identifier of SQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** An array of Postgres as text, the same for every client. */
export const arrayOf = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`).join(',')}}`;
export const bytesArrayOf = (all: readonly Buffer[]): string =>
  `{${all.map((bytes) => `"\\\\x${bytes.toString('hex')}"`).join(',')}}`;

export interface Names {
  readonly schema: string | undefined;
  readonly table: string;
  readonly channel: string;
}

/**
 * ms for which a process may stand still with rows locked; two deadlines, if that is longer. Garbage collection and a busy machine take some
 * hundred. A connection that ends for each of them, and is opened again, makes a busy machine busier.
 */
const SHORTEST_STANDSTILL = 1_000;

/** The columns and the primary key of a table of ours, as `inspect` returns them. */
export const COLUMNS = 'key text "C", entry bytea, expires bigint; key';

/** @param id distinguishes the messages of this process */
export function sqlOf({ schema, table: name, channel }: Names, unlogged: boolean, id: string) {
  const table = schema === undefined ? quoted(name) : `${quoted(schema)}.${quoted(name)}`;
  const tableStatement = [
    `CREATE ${unlogged ? 'UNLOGGED ' : ''}TABLE IF NOT EXISTS ${table}`,
    '(key text COLLATE "C" PRIMARY KEY, entry bytea NOT NULL, expires bigint NOT NULL)',
    'WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)',
  ].join(' ');
  return {
    /** For people who make the table themselves. */
    tableStatement,
    /** Returns the columns and the primary key of the table, null if there is none, and whether the server is a standby. */
    inspect: `
      SELECT (
        SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod) || coalesce(
          (SELECT ' "' || collname || '"' FROM pg_collation WHERE oid = attcollation), ''), ', ' ORDER BY attnum)
        FROM pg_attribute WHERE attrelid = found.id AND attnum > 0 AND NOT attisdropped
      ) || '; ' || coalesce((
        SELECT string_agg(attname, ', ') FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY(indkey)
        WHERE indrelid = found.id AND indisprimary
      ), ''), pg_is_in_recovery()
      FROM (SELECT to_regclass(${literal(table)}) AS id) AS found`,
    /** One process at a time: two that see no table would both create it, and one would fail. */
    create: `
      BEGIN;
      SET LOCAL client_min_messages = warning;
      SELECT pg_advisory_xact_lock(hashtext('sluice'), hashtext(${literal(table)}));
      ${tableStatement};
      COMMIT`,
    /** A process that is frozen while it holds rows loses them. A plan that is prepared while the table is empty must not be a scan. */
    begin: (deadline: number) =>
      `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${deadline}; ` +
      `SET LOCAL idle_in_transaction_session_timeout = ${Math.max(SHORTEST_STANDSTILL, 2 * deadline)}; SET LOCAL enable_seqscan = off`,
    /** $1 keys. Returns the rows of those that exist, and one without an entry: the transaction and the clock, µs. */
    lock: `
      WITH locked AS MATERIALIZED (
        SELECT key, entry, expires FROM ${table} WHERE key = ANY($1::text[]) ORDER BY key COLLATE "C" FOR UPDATE
      )
      SELECT key, entry, expires FROM locked
      UNION ALL SELECT pg_current_xact_id()::text, NULL, ${NOW} FROM (SELECT count(*) FROM locked) AS every`,
    /** $1 to $3 keys that exist, entries and expiries; $4 the transaction. Returns how many were kept, and whether the transaction is the same. */
    update: `
      WITH updated AS (
        UPDATE ${table} AS old SET entry = made.entry, expires = made.expires
        FROM unnest($1::text[], $2::bytea[], $3::bigint[]) AS made (key, entry, expires)
        WHERE old.key = made.key AND old.key = ANY($1::text[]) AND ${same('$4')} RETURNING 1
      )
      SELECT count(*), ${same('$4')} FROM updated`,
    /**
     * $1 to $3 of keys that did not exist, $4 to $6 of keys that did, $7 keys to remove, $8 the transaction, $9 keys that the decision has found
     * absent and leaves so. Returns how many of the first were kept, or -1, and the same as `update`. Nothing changes if another process has inserted
     * one of the first or of the last meanwhile: a row that is inserted while `lock` waits for another one is not in its snapshot.
     */
    keep: `
      WITH inserted AS (
        INSERT INTO ${table} (key, entry, expires)
        SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[]) AS made (key, entry, expires)
        WHERE ${same('$8')} AND NOT EXISTS (SELECT 1 FROM ${table} WHERE key = ANY($9::text[]))
        ORDER BY made.key COLLATE "C" ON CONFLICT (key) DO NOTHING RETURNING 1
      ), counted AS (
        SELECT CASE WHEN EXISTS (SELECT 1 FROM ${table} WHERE key = ANY($9::text[])) THEN -1 ELSE count(*) END AS kept, ${same('$8')} AS same
        FROM inserted
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
    /**
     * $1 the new keys. Removes those that `keep` has inserted, unless it has inserted all: COMMIT is under way already. An error would end the
     * transaction as well, but each one would be in the server's log.
     */
    undo: `
      DELETE FROM ${table} WHERE key = ANY($1::text[]) AND xmin = pg_current_xact_id()::xid AND cardinality($1::text[]) > (
        SELECT count(*) FROM ${table} WHERE key = ANY($1::text[]) AND xmin = pg_current_xact_id()::xid
      )`,
    /** A commit with a message takes a lock of the whole database, so only for calls that wait. */
    notify: `NOTIFY ${quoted(channel)}, ${literal(id)}`,
    /** $1 the key after which to look, $2 how many to return. */
    keysAfter: `SELECT key FROM ${table} WHERE key > $1::text ORDER BY key COLLATE "C" LIMIT $2::int`,
    /**
     * $1 the key after which to look, $2 how many to look at, $3 now, or null for the database's clock. Returns the last key, and how many. Locked
     * rows are in use; the condition is checked again on a locked row, which a call may have renewed.
     */
    sweep: `
      WITH step AS MATERIALIZED (
        SELECT key FROM ${table} WHERE key > $1::text ORDER BY key COLLATE "C" LIMIT $2::int
      ), removed AS (
        DELETE FROM ${table} WHERE expires <= coalesce($3::bigint, ${NOW}) AND key = ANY(ARRAY(
          SELECT key FROM ${table} WHERE key = ANY(ARRAY(SELECT key FROM step)) AND expires <= coalesce($3::bigint, ${NOW})
          FOR UPDATE SKIP LOCKED
        ))
      )
      SELECT max(key), count(*) FROM step`,
  };
}

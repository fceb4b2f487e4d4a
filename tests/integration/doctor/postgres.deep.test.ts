import { Client } from 'pg';
import { examinePostgres } from '../../../packages/cli/src/doctor/postgres/examine.js';
import type { DoctorOptions } from '../../../packages/cli/src/doctor/settings.js';
import { fixedWindow, RateLimiter } from '../../../packages/core/src/index.js';
import { postgresStore } from '../../../packages/postgres/src/index.js';
import { eventually } from '../../support/eventually.js';
import {
  databaseUrl,
  type PostgresServer,
  sql,
  startPostgres,
  withDatabase,
} from '../../support/postgres/index.js';
import { startPgBouncer } from '../../support/postgres/pgbouncer.js';
import { freePort } from '../../support/redis/free-port.js';
import { lineOf } from './findings.js';

// Causes each finding about a Postgres on a real one.

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

/** A busy machine causes no finding. */
const PATIENT: DoctorOptions = { deadline: 60_000, timeout: 10_000 };
const findingsAt = (url: string, schema?: string) =>
  examinePostgres({ url, address: 'the address', table: 'sluice', schema }, PATIENT);
const linesAt = async (url: string, schema?: string) => (await findingsAt(url, schema)).map(lineOf);

/** Makes the table of a store, with a key. */
async function used(url: string, unlogged = true): Promise<void> {
  const store = postgresStore({ url, unlogged });
  const policy = fixedWindow({ limit: 1, window: '1h' });
  const limiter = new RateLimiter({ name: 'used', policy, store, deadline: '10s' });
  await limiter.consume('k');
  await limiter.close();
  await store.close();
}

test('reports the kind of a healthy table, and the result of each check', async () => {
  await withDatabase(postgres, async (url) => {
    await used(url);
    const findings = await findingsAt(url);
    expect(findings.map(({ level, id }) => `${level} ${id}`)).toEqual([
      'note table-unlogged',
      ...[
        'connection',
        'server',
        'pooler',
        'connections',
        'table',
        'vacuum',
        'transactions',
        'round-trip',
      ].map((about) => `ok ${about}`),
    ]);
    expect(findings[0]).toMatchObject({
      node: `127.0.0.1:${postgres.port}`,
      why: expect.stringMatching(/\.$/),
      fix: expect.stringContaining('SET LOGGED'),
    });
  });
  await withDatabase(postgres, async (url) => {
    await used(url, false);
    expect(await linesAt(url)).toContain('note table-logged: The table "sluice" is LOGGED');
  });
});

test('reports a server that does not answer, a login, and a database that is not there, without the password', async () => {
  const none = await findingsAt(`postgres://me:secret@127.0.0.1:${await freePort()}/db`);
  const login = new URL(postgres.url);
  login.password = 'secret';
  const refused = await findingsAt(login.href);
  const missing = await findingsAt(databaseUrl(postgres.url, 'nowhere'));
  expect(
    [none, refused, missing].map((findings) => findings.map(({ level, id }) => `${level} ${id}`)),
  ).toEqual([['error unreachable'], ['error wrong-password'], ['error database-missing']]);
  const said = JSON.stringify([none, refused, missing]);
  expect(said).not.toContain('secret');
  expect(said).not.toContain(new URL(postgres.url).password);
});

test('reports a missing table, and a user who may not make it', async () => {
  await withDatabase(postgres, async (url) => {
    expect(await linesAt(url)).toContain('note table-missing: There is no table "sluice" yet');
    await sql(
      url,
      "CREATE ROLE visitor LOGIN PASSWORD 'visitor'",
      'REVOKE CREATE ON SCHEMA public FROM PUBLIC',
    );
    const visitor = Object.assign(new URL(url), { username: 'visitor', password: 'visitor' }).href;
    try {
      expect(await linesAt(visitor)).toContainEqual(
        expect.stringMatching(/^error table-missing: .* may not create it/),
      );
      await used(url);
      await sql(url, 'GRANT SELECT, INSERT ON sluice TO visitor');
      const lines = await linesAt(visitor);
      expect(lines).toContain('error right-missing: This user lacks UPDATE, DELETE on "sluice"');
      expect(lines).toContainEqual(expect.stringMatching(/^note transactions-hidden/));
    } finally {
      await sql(url, 'DROP OWNED BY visitor', 'DROP ROLE visitor');
    }
  });
});

test('reports a foreign table, an index, a trigger, and autovacuum that is off', async () => {
  await withDatabase(postgres, async (url) => {
    await sql(url, 'CREATE SCHEMA other', 'CREATE TABLE other.sluice (id int)');
    expect(await linesAt(url, 'other')).toContain(
      'error table-foreign: The table "other"."sluice" has the columns id integer',
    );
    await used(url);
    await sql(
      url,
      'CREATE INDEX by_expiry ON sluice (expires)',
      'CREATE TRIGGER seen BEFORE UPDATE ON sluice FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()',
      'ALTER TABLE sluice SET (autovacuum_enabled = off)',
    );
    expect(await linesAt(url)).toEqual(
      expect.arrayContaining([
        'warning table-index: The table "sluice" has the index by_expiry',
        'warning table-trigger: The table "sluice" has the trigger seen',
        'warning autovacuum-off: Autovacuum does not look at "sluice"',
      ]),
    );
  });
});

test('reports dead row versions, and updates that write the index', async () => {
  await withDatabase(postgres, async (url) => {
    await used(url);
    await sql(
      url,
      'ALTER TABLE sluice SET (autovacuum_enabled = off, fillfactor = 100)',
      "INSERT INTO sluice SELECT 'k' || i, '', 0 FROM generate_series(1, 30000) AS i",
      'UPDATE sluice SET expires = 1',
      'UPDATE sluice SET expires = 2',
    );
    const lines = await eventually(async () => {
      const found = await linesAt(url);
      return found.some((line) => line.startsWith('warning dead-tuples')) ? found : undefined;
    });
    expect(lines).toContainEqual(expect.stringMatching(/^warning updates-not-hot: \d+ % of \d+ updates/));
  });
});

test('reports another default isolation, a read-only default, and connections that are nearly used up', async () => {
  await withDatabase(postgres, async (url) => {
    const database = new URL(url).pathname.slice(1);
    await sql(
      url,
      `ALTER DATABASE ${database} SET default_transaction_isolation = 'serializable'`,
      `ALTER DATABASE ${database} SET default_transaction_read_only = on`,
    );
    expect(await linesAt(url)).toEqual(
      expect.arrayContaining([
        'error server-read-only: default_transaction_read_only is on for this user or database',
        'note isolation-default: default_transaction_isolation is serializable',
      ]),
    );
  });
  const small = await startPostgres({
    config: { max_connections: 8, superuser_reserved_connections: 1, max_wal_senders: 0 },
  });
  const clients = Array.from({ length: 5 }, () => new Client({ connectionString: small.url }));
  try {
    for (const client of clients) await client.connect();
    expect(await linesAt(small.url)).toContainEqual(
      expect.stringMatching(/^warning connections-many: [67] of 7 connections are in use/),
    );
  } finally {
    for (const client of clients) await client.end();
    await small.stop();
  }
});

test('reports a standby, and a pooler by its mode', async () => {
  const replica = await postgres.replica();
  try {
    expect(await linesAt(replica.url)).toContain('error server-read-only: The server is a standby');
  } finally {
    await replica.stop();
  }
  for (const [mode, line] of [
    ['transaction', /^warning pooler-transaction/],
    ['session', /^note pooler-session/],
  ] as const) {
    const bouncer = await startPgBouncer(postgres.url, { mode });
    try {
      expect(await linesAt(bouncer.url)).toContainEqual(expect.stringMatching(line));
    } finally {
      await bouncer.stop();
    }
  }
});

/** The address of a database in which functions and views of `public` go before those of Postgres. */
const shadowed = (url: string): string => `${url}?options=-c%20search_path%3Dpublic,pg_catalog`;

test('reports an old server, another clock, and an old transaction', async () => {
  await withDatabase(postgres, async (url) => {
    await sql(
      url,
      `CREATE FUNCTION current_setting(text) RETURNS text LANGUAGE sql AS
        $$ SELECT CASE $1 WHEN 'server_version_num' THEN '130011' ELSE pg_catalog.current_setting($1) END $$`,
      "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$",
    );
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('BEGIN');
    try {
      expect(await linesAt(shadowed(url))).toEqual(
        expect.arrayContaining([
          'warning server-old: This is Postgres 13',
          'warning clock-off: The clock of the server differs from ours by 3600 s',
          expect.stringMatching(
            /^warning transaction-old: A transaction is open for 36\d\d s \(idle in transaction, process \d+\)$/,
          ),
        ]),
      );
    } finally {
      await client.end();
    }
    await sql(
      url,
      `CREATE OR REPLACE FUNCTION current_setting(text) RETURNS text LANGUAGE sql AS
        $$ SELECT CASE $1 WHEN 'server_version_num' THEN '120011' ELSE pg_catalog.current_setting($1) END $$`,
    );
    expect(await linesAt(shadowed(url))).toContain('error server-too-old: This is Postgres 12');
  });
});

test('reports a slow network, and a check that an error ended', async () => {
  const findings = await examinePostgres(
    { url: postgres.url, address: '', table: 'sluice', schema: undefined },
    { deadline: 0.01, timeout: 10_000 },
  );
  expect(findings.map(lineOf)).toContainEqual(expect.stringMatching(/^error round-trip-slow: /));
  await withDatabase(postgres, async (url) => {
    await sql(
      url,
      'CREATE FUNCTION public.pg_backend_pid() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION $m$no$m$; END $$',
    );
    expect(await linesAt(shadowed(url))).toContainEqual(
      expect.stringMatching(/^warning not-examined: pooler could not be examined: no/),
    );
  });
});

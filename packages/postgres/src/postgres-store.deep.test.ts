import {
  CombinedLimiter,
  concurrency,
  fixedWindow,
  isStoreConfigurationError,
  isStoreUnavailableError,
  ManualClock,
  RateLimiter,
  type RateLimiterOptions,
} from '@sluice/core';
import pg from 'pg';
import postgres from 'postgres';
import { eventually } from '../../../tests/support/eventually.js';
import {
  databaseUrl,
  type PostgresServer,
  sql,
  startPostgres,
} from '../../../tests/support/postgres/index.js';
import { rejection } from '../../../tests/support/rejection.js';
import { linkOf } from './clients.js';
import { type PostgresStore, type PostgresStoreOptions, postgresStore } from './index.js';
import { PostgresTable } from './postgres-table.js';
import { sqlOf } from './sql.js';

const policy = fixedWindow({ limit: 3, window: '1h' });

let server: PostgresServer;
let url: string;
let databases = 0;
let opened: { close(): unknown }[];

beforeAll(async () => {
  server = await startPostgres();
}, 120_000);
afterAll(() => server?.stop());

beforeEach(async () => {
  databases += 1;
  await sql(server.url, `CREATE DATABASE d${databases}`);
  url = databaseUrl(server.url, `d${databases}`);
  opened = [];
});
afterEach(async () => {
  for (const one of opened.reverse()) await one.close();
});

function storeOf(options: Partial<PostgresStoreOptions> = {}): PostgresStore {
  const store = postgresStore({ ...(options.connect === undefined && { url }), ...options });
  opened.push(store);
  return store;
}

function limiterOf(store = storeOf(), options: Partial<RateLimiterOptions> = {}): RateLimiter {
  const limiter = new RateLimiter({
    name: 'demo',
    policy,
    store,
    deadline: '10s',
    ...options,
  } as RateLimiterOptions);
  opened.push(limiter);
  return limiter;
}

/** A connection of another program. */
async function otherProgram(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  opened.push({ close: () => client.end() });
  return client;
}

const connections = async (): Promise<number> => {
  const [row] = await sql(
    url,
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'sluice'",
  );
  return row!.n as number;
};

test('two processes count together, in a table that the first call makes', async () => {
  const [one, other] = [limiterOf(), limiterOf()];
  expect(await connections()).toBe(0);
  expect(await one.consume('ann')).toMatchObject({ allowed: true, remaining: 2, source: 'postgres' });
  expect(await other.consume('ann')).toMatchObject({ allowed: true, remaining: 1 });
  expect(() => one.consumeSync('bob')).toThrow(/answers over the network: use consume/);
  const [table] = await sql(
    url,
    "SELECT relpersistence, (SELECT count(*)::int FROM pg_index WHERE indrelid = oid) AS indexes FROM pg_class WHERE relname = 'sluice'",
  );
  expect(table).toEqual({ relpersistence: 'u', indexes: 1 });
});

test('a table can be logged, and have another name and schema', async () => {
  await sql(url, 'CREATE SCHEMA "our limits"');
  const options = { table: 'a "b"', schema: 'our limits', unlogged: false };
  const limiter = limiterOf(storeOf(options));
  expect(await limiter.consume('ann')).toMatchObject({ remaining: 2, degraded: false });
  expect(await limiterOf(storeOf(options)).consume('ann')).toMatchObject({ remaining: 1 });
  const found = await sql(url, `SELECT relpersistence FROM pg_class WHERE relname = 'a "b"'`);
  expect(found).toEqual([{ relpersistence: 'p' }]);
});

test('any key is one key', async () => {
  const limiter = limiterOf();
  for (const key of ['\0', '\ud800', 'é', '"', '\\', '{a,b}', "'", 'x'.repeat(10_000), '\ufffd'])
    expect((await limiter.consume(key)).remaining).toBe(2);
});

/** Counts how often a client sends after it has received. */
class CountedClient extends pg.Client {
  static trips = 0;
  override async connect(): Promise<never> {
    await super.connect();
    const { stream } = (this as unknown as { connection: { stream: NodeJS.WritableStream } }).connection;
    const { write } = stream;
    let sends = false;
    stream.on('data', () => {
      sends = false;
    });
    stream.write = (...args: unknown[]) => {
      if (!sends) CountedClient.trips += 1;
      sends = true;
      return write.apply(stream, args as never);
    };
    return undefined as never;
  }
}

test('a turn of any number of calls, of known and new keys, is two round trips', async () => {
  const swept = jest.spyOn(PostgresTable.prototype, 'sweep');
  const store = storeOf({ connect: () => new CountedClient(url), definitions: false });
  const limiter = limiterOf(store);
  const others = limiterOf(store, { name: 'others' });
  // The first sweep, a second after the first call, takes trips, too.
  await limiter.consume('first');
  await (await eventually(async () => swept.mock.results[0])).value;
  swept.mockRestore();
  const tripsOf = async (calls: () => Promise<unknown>[]) => {
    CountedClient.trips = 0;
    await Promise.all(calls());
    return CountedClient.trips;
  };
  expect(await tripsOf(() => [limiter.consume('ann')])).toBe(2);
  expect(await tripsOf(() => [limiter.consume('ann'), others.consume('ann')])).toBe(2);
  expect(await tripsOf(() => Array.from({ length: 100 }, (_, i) => limiter.consume(i)))).toBe(2);
  expect(await tripsOf(() => [limiter.reset('ann'), limiter.consume('new')])).toBe(2);
});

/** Its COMMIT is never answered. */
class SilentClient extends pg.Client {
  override query(query: never): never {
    const reply = super.query(query) as Promise<unknown>;
    const { text } = query as { text: string };
    return (text === 'COMMIT' ? reply.then(() => new Promise(() => {})) : reply) as never;
  }
}

test('denials do not wait for COMMIT, and grants do', async () => {
  const limiter = limiterOf();
  for (let i = 0; i < 3; i += 1) await limiter.consume('ann');
  const silent = limiterOf(storeOf({ connect: () => new SilentClient(url) }), { failurePolicy: 'deny' });
  expect(await silent.consume('ann')).toMatchObject({ allowed: false, degraded: false });
  const granted = limiterOf(storeOf({ connect: () => new SilentClient(url) }), {
    failurePolicy: 'deny',
    deadline: '300ms',
  });
  expect(await granted.consume('bob')).toMatchObject({ allowed: false, degraded: true });
});

test.each(['serializable', 'repeatable read'])(
  'counts exactly where the default isolation is %s',
  async (level) => {
    await sql(url, `ALTER DATABASE d${databases} SET default_transaction_isolation = '${level}'`);
    const limiters = Array.from({ length: 4 }, () => limiterOf(storeOf(), { failurePolicy: 'deny' }));
    const calls = limiters.flatMap((limiter) => Array.from({ length: 20 }, () => limiter.consume('ann')));
    const decisions = await Promise.all(calls);
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(3);
    expect(decisions.filter(({ degraded }) => degraded)).toEqual([]);
  },
);

/** Waits until a connection waits for a lock. */
const blocked = () =>
  eventually(async () => {
    const [row] = await sql(url, 'SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted');
    return row!.n === 1;
  });

function tableOf(clock?: ManualClock): PostgresTable {
  const names = { schema: undefined, table: 'sluice', channel: 'sluice' };
  const table = new PostgresTable({
    sql: sqlOf(names, true, 'test'),
    name: 'sluice',
    open: () => linkOf(new pg.Client(url)),
    listener: undefined,
    create: true,
    prepares: true,
    clock,
    loading: undefined,
  });
  opened.push(table);
  return table;
}

test.each([[['a']], [['a', 'new']]])('time is read after the last lock, of %j', async (keys) => {
  const table = tableOf();
  await table.change(['a'], () => ({
    changed: [{ key: 'a', entry: Buffer.from('x'), expires: Number.MAX_SAFE_INTEGER }],
    grants: false,
  }));
  const other = await otherProgram();
  await other.query('BEGIN');
  await other.query('SELECT 1 FROM sluice FOR UPDATE');
  let now = 0;
  table.network.expect(10_000);
  const waiting = table.change(keys, (open) => {
    now = open.now;
    expect([...open.entries.values()]).toEqual([
      { key: 'a', entry: Buffer.from('x'), expires: Number.MAX_SAFE_INTEGER },
    ]);
    return { changed: [], grants: false };
  });
  await blocked();
  const { rows } = await other.query(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint::float8 AS at',
  );
  await other.query('COMMIT');
  await waiting;
  expect(now).toBeGreaterThan(rows[0].at);
});

test('an insert that another process has made first is decided again, and no key is counted twice', async () => {
  const store = storeOf();
  await store.connect();
  const [a, b, c] = ['a', 'b', 'c'].map((name) => limiterOf(store, { name }));
  const all = new CombinedLimiter({ a: a!, b: b!, c: c! });
  const other = limiterOf(storeOf(), { name: 'b' });
  await other.consume('k');
  const rival = await otherProgram();
  const { rows } = await rival.query('DELETE FROM sluice RETURNING key, entry, expires');
  await rival.query('BEGIN');
  await rival.query('INSERT INTO sluice VALUES ($1, $2, $3)', Object.values(rows[0] as object));
  const deciding = all.consume({ a: 'k', b: 'k', c: 'k' });
  await blocked();
  await rival.query('COMMIT');
  expect((await deciding).allowed).toBe(true);
  const left = await Promise.all([a, b, c].map((one) => one!.peek('k')));
  expect(left.map(({ remaining }) => remaining)).toEqual([2, 1, 2]);
});

test('a call that is abandoned while another process has the row takes nothing', async () => {
  const store = storeOf();
  await limiterOf(store).consume('ann');
  const limiter = limiterOf(store, { deadline: '200ms', failurePolicy: 'deny' });
  const other = await otherProgram();
  await other.query('BEGIN');
  await other.query('SELECT 1 FROM sluice FOR UPDATE');
  expect(await limiter.consume('ann')).toMatchObject({ allowed: false, degraded: true });
  await other.query('COMMIT');
  expect(await limiterOf().peek('ann')).toMatchObject({ remaining: 2 });
});

const terminate = () =>
  sql(
    url,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'sluice'",
  );

test('a connection that was ended while idle is replaced without an outage', async () => {
  const store = storeOf();
  const limiter = limiterOf(store, { failurePolicy: 'deny' });
  const errors: unknown[] = [];
  store.on('storeError', (event) => errors.push(event));
  await limiter.consume('ann');
  await terminate();
  expect(await limiter.consume('ann')).toMatchObject({ remaining: 1, degraded: false });
  expect(errors).toEqual([]);
});

test('a turn that is ended before its second trip is decided by the failure policy, or on a new connection', async () => {
  const store = storeOf();
  const limiter = limiterOf(store, { failurePolicy: 'deny' });
  await limiter.consume('ann');
  const other = await otherProgram();
  await other.query('BEGIN');
  await other.query('SELECT 1 FROM sluice FOR UPDATE');
  const waiting = limiter.consume('ann');
  await blocked();
  await terminate();
  await other.query('COMMIT');
  expect(await waiting).toMatchObject({ remaining: 1, degraded: false });
});

/** Loses its connection when it has sent COMMIT. */
class LosingClient extends pg.Client {
  static commits = 0;
  override query(query: never): never {
    const reply = super.query(query) as Promise<unknown>;
    if ((query as { text: string }).text === 'COMMIT') {
      LosingClient.commits += 1;
      const { stream } = (this as unknown as { connection: { stream: { destroy(): void } } }).connection;
      setTimeout(() => stream.destroy(), 100);
      return reply.then(
        () => new Promise((_, reject) => setTimeout(reject, 200, new Error('lost'))),
      ) as never;
    }
    return reply as never;
  }
}

test('a turn whose COMMIT was sent is not repeated, and its outcome is unknown', async () => {
  const limiter = limiterOf(storeOf({ connect: () => new LosingClient(url) }));
  LosingClient.commits = 0;
  const error = await rejection(limiter.penalty('ann', 1));
  expect(isStoreUnavailableError(error) && error.neverSent).toBe(false);
  expect(LosingClient.commits).toBe(1);
  const reader = limiterOf();
  // The server may still be at the COMMIT.
  await eventually(async () => (await reader.peek('ann')).remaining === 2);
});

describe('calls', () => {
  test('are decided by the failure policy while the login is refused, and connect rejects', async () => {
    await sql(server.url, "CREATE ROLE carl LOGIN PASSWORD 'right'");
    const wrong = new URL(url);
    wrong.username = 'carl';
    wrong.password = 'wrong';
    const store = storeOf({ url: wrong.href });
    store.on('degraded', () => {});
    const error = await rejection(store.connect());
    expect(isStoreUnavailableError(error) && error.reason).toBe('WRONGPASS');
    expect(error).toMatchObject({ message: expect.stringMatching(/refuses the login: give postgresStore/) });
    expect(await limiterOf(store, { failurePolicy: 'deny' }).consume('ann')).toMatchObject({
      degraded: true,
    });
  });

  test('reject if there is no such database', async () => {
    const error = await rejection(limiterOf(storeOf({ url: databaseUrl(url, 'nowhere') })).consume('ann'));
    expect(isStoreConfigurationError(error)).toBe(true);
  });

  test('reject if the table belongs to another program, which stays as it is', async () => {
    await sql(url, 'CREATE TABLE sluice (id int PRIMARY KEY, key text)');
    const error = await rejection(limiterOf().consume('ann'));
    expect(isStoreConfigurationError(error)).toBe(true);
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /belongs to another program \(it has id integer, .*give postgresStore a table/,
      ),
    });
  });

  test('reject for a key that holds a foreign value; other keys are decided', async () => {
    const limiter = limiterOf();
    await limiter.consume('ann');
    await sql(url, "UPDATE sluice SET entry = 'hello'");
    expect(isStoreConfigurationError(await rejection(limiter.consume('ann')))).toBe(true);
    expect(await limiter.consume('bob')).toMatchObject({ allowed: true });
  });
});

test('a table that is dropped is made again', async () => {
  const limiter = limiterOf(storeOf(), { failurePolicy: 'deny' });
  await limiter.consume('ann');
  await sql(url, 'DROP TABLE sluice');
  expect(await limiter.consume('ann')).toMatchObject({ remaining: 2, degraded: false });
});

test.each([true, false])(
  'a waiting call of another process is woken by a release (listen: %s)',
  async (listen) => {
    const held = { policy: concurrency({ limit: 1, lease: '1h' }) };
    const [one, other] = [limiterOf(storeOf({ listen }), held), limiterOf(storeOf({ listen }), held)];
    const first = await one.acquire('job');
    expect(await connections()).toBe(1);
    const second = other.acquire('job');
    await eventually(async () => (await connections()) === (listen ? 3 : 2));
    await one.release(first);
    expect(await second).toMatchObject({ allowed: true });
    await other.release(await second);
  },
);

test('expired entries are swept away, a thousand at a time, but not those of a turn', async () => {
  const clock = new ManualClock();
  const consumeOnce = async (keys: readonly (string | number)[]) => {
    const store = storeOf({ clock, definitions: false });
    const limiter = limiterOf(store);
    await Promise.all(keys.map((key) => limiter.consume(key)));
    await store.close(); // it must not sweep meanwhile
  };
  await consumeOnce(Array.from({ length: 2_500 }, (_, i) => i));
  await clock.advance('2h');
  await consumeOnce(['new']);
  const other = await otherProgram();
  await other.query('BEGIN');
  await other.query("SELECT 1 FROM sluice WHERE key LIKE '%{7}%' FOR UPDATE");
  const table = tableOf(clock);
  const sweep = () => table.sweep();
  expect([await sweep(), await sweep(), await sweep()]).toEqual([true, true, false]);
  await other.query('COMMIT');
  const rows = async () => (await sql(url, 'SELECT count(*)::int AS n FROM sluice'))[0]!.n;
  expect(await rows()).toBe(2);
  for (const _ of [1, 2, 3]) await sweep();
  expect(await rows()).toBe(1);
});

test('postgres.js decides as pg does, and wakes waiting calls', async () => {
  const connect = () => postgres(url, { max: 1, connection: { application_name: 'sluice' } });
  const [one, other] = [limiterOf(storeOf({ connect })), limiterOf()];
  await Promise.all(Array.from({ length: 50 }, (_, i) => one.consume(i)));
  expect(await one.consume('ann')).toMatchObject({ remaining: 2, degraded: false });
  expect(await other.consume('ann')).toMatchObject({ remaining: 1 });
  await terminate();
  expect(await one.consume('ann')).toMatchObject({ remaining: 0, degraded: false });
  const held = { name: 'held', policy: concurrency({ limit: 1, lease: '1h' }) };
  const [holder, waiter] = [limiterOf(storeOf(), held), limiterOf(storeOf({ connect }), held)];
  const first = await holder.acquire('job');
  const second = waiter.acquire('job');
  await eventually(async () => (await holder.peek('job')).remaining === 0);
  await holder.release(first);
  expect(await second).toMatchObject({ allowed: true });
});

test('close ends all connections: calls without an answer reject', async () => {
  const store = storeOf();
  const limiter = limiterOf(store);
  await limiter.consume('ann');
  const other = await otherProgram();
  await other.query('BEGIN');
  await other.query('SELECT 1 FROM sluice FOR UPDATE');
  const waiting = rejection(limiter.consume('ann'));
  await store.close();
  await store.close();
  for (const error of [await waiting, await rejection(limiter.consume('ann'))])
    expect(isStoreUnavailableError(error) && error.reason).toBe('closed');
  await other.query('COMMIT');
  await eventually(async () => (await connections()) === 0);
});

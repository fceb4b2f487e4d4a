import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { eventually } from '../eventually.js';
import { programEnv } from '../program-env.js';
import { installedBinaries, postgresBinaries, registryBinaries } from './binaries.js';
import { type PostgresServer, sql, startPostgres, withDatabase } from './index.js';
import { startPgBouncer } from './pgbouncer.js';

const servers: PostgresServer[] = [];
const started = async (server: Promise<PostgresServer>): Promise<PostgresServer> => {
  servers.push(await server);
  return server;
};
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const gone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

test.each([
  ['of this machine', async () => (await installedBinaries()) ?? (await postgresBinaries())],
  ['of the npm registry', registryBinaries],
])(
  'a Postgres %s runs, has a replica and can be promoted',
  async (_, find) => {
    const primary = await started(startPostgres({ binaries: await find() }));
    const replica = await started(primary.replica());
    await sql(primary.url, 'CREATE TABLE seen AS SELECT 7 AS x');
    await eventually(() => sql(replica.url, 'SELECT x FROM seen').catch(() => undefined));
    await expect(sql(replica.url, 'INSERT INTO seen VALUES (8)')).rejects.toThrow('read-only');
    await primary.kill();
    await sql(replica.url, 'SELECT pg_promote()', 'INSERT INTO seen VALUES (9)');
    expect(await sql(replica.url, 'SELECT x FROM seen')).toEqual([{ x: 7 }, { x: 9 }]);
  },
  120_000,
);

test('it takes parameters, and restarts at the same address without what UNLOGGED tables held', async () => {
  const postgres = await started(startPostgres({ config: { max_connections: 17 } }));
  expect(await sql(postgres.url, 'SHOW max_connections')).toEqual([{ max_connections: '17' }]);
  await withDatabase(postgres, async (url) => {
    await sql(url, 'CREATE UNLOGGED TABLE fast AS SELECT 1 AS x', 'CREATE TABLE safe AS SELECT 1 AS x');
    await postgres.restart('crash', { max_connections: 18 });
    expect(await sql(url, 'SELECT * FROM fast')).toEqual([]);
    expect(await sql(url, 'SELECT * FROM safe')).toEqual([{ x: 1 }]);
  });
  expect(await sql(postgres.url, 'SHOW max_connections')).toEqual([{ max_connections: '18' }]);
  const names = await sql(postgres.url, 'SELECT datname FROM pg_database ORDER BY 1');
  expect(names.map(({ datname }) => datname)).toEqual(['postgres', 'template0', 'template1']);
});

test('freeze leaves queries unanswered until thaw, and stop ends a frozen server', async () => {
  const postgres = await started(startPostgres());
  const client = new Client({ connectionString: postgres.url });
  client.on('error', () => undefined);
  await client.connect();
  await postgres.freeze();
  let answered = false;
  const query = client.query('SELECT 1').then(() => {
    answered = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(answered).toBe(false);
  await postgres.thaw();
  await query;
  const { pid } = postgres;
  await postgres.freeze();
  await postgres.stop();
  expect(gone(pid)).toBe(true);
});

test('a server and its folder go with the process that started it, even by kill -9', async () => {
  const script = `require('esbuild-register/dist/node').register();
    const { startPostgres } = require(${JSON.stringify(join(__dirname, 'postgres-server.ts'))});
    const { sql } = require(${JSON.stringify(join(__dirname, 'database.ts'))});
    startPostgres().then(async ({ pid, url }) => {
      const [{ data_directory: folder }] = await sql(url, 'SHOW data_directory');
      console.log(JSON.stringify([pid, folder]));
      setInterval(() => {}, 1000);
    })`;
  const owner = spawn(process.execPath, ['-e', script], { env: programEnv });
  const [line] = (await once(owner.stdout, 'data')) as [Buffer];
  const [pid, folder] = JSON.parse(line.toString()) as [number, string];
  expect(gone(pid)).toBe(false);
  expect(existsSync(folder)).toBe(true);
  owner.kill('SIGKILL');
  await eventually(async () => gone(pid) && !existsSync(folder));
});

test('pgbouncer gives each transaction a connection of its own', async () => {
  const postgres = await started(startPostgres());
  const bouncer = await startPgBouncer(postgres.url, { config: { default_pool_size: 1 } });
  try {
    const clients = [1, 2].map(() => new Client({ connectionString: bouncer.url }));
    const pids: unknown[] = [];
    for (const client of clients) {
      await client.connect();
      pids.push((await client.query('SELECT pg_backend_pid()')).rows[0].pg_backend_pid);
    }
    expect(pids[0]).toBe(pids[1]);
    for (const client of clients) await client.end();
  } finally {
    await bouncer.stop();
  }
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixedWindow, RateLimiter } from '../../../packages/core/src/index.js';
import { sqliteStore } from '../../../packages/sqlite/src/index.js';
import { type PostgresServer, sql, startPostgres } from '../../support/postgres/index.js';
import { sluice } from './sluice.js';

let postgres: PostgresServer;
let folder: string;
beforeAll(async () => {
  postgres = await startPostgres();
  folder = await mkdtemp(join(tmpdir(), 'sluice-copy-'));
});
afterAll(async () => {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

test('only a copy that is no dry run makes the table of a Postgres', async () => {
  const file = join(folder, 'limits.db');
  const store = sqliteStore(file);
  const policy = fixedWindow({ limit: 5, window: '1h' });
  const limiter = new RateLimiter({ name: 'login', policy, store, deadline: '10s' });
  await limiter.consume('ann');
  await limiter.close();
  await store.close();
  const copy = async (...more: string[]) => {
    const { code, stdout } = await sluice([
      'copy',
      '--from',
      `sqlite:${file}`,
      '--to',
      postgres.url,
      ...more,
    ]);
    return [code, stdout];
  };
  const tables = () => sql(postgres.url, "SELECT FROM pg_tables WHERE tablename = 'sluice'");
  expect(await copy('--dry-run')).toEqual([
    0,
    expect.stringMatching(/^There is no table yet: .*\n1 entry, 1 kB: 1 would be written\.\n$/),
  ]);
  expect(await tables()).toHaveLength(0);
  expect(await copy('--yes')).toEqual([0, '1 entry, 1 kB: 1 was written.\n']);
  expect(await tables()).toHaveLength(1);
});

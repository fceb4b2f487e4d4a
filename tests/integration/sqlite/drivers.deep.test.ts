import { mkdtemp, rm } from 'node:fs/promises';
import { arch, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from '../../../packages/sqlite/src/index.js';
import { bundle } from '../../support/bundle.js';
import { registryPackages } from '../../support/registry-packages.js';
import { run } from '../../support/run.js';
import { KEYS, LIMIT, takeAll } from './taking.js';

// Drivers bring SQLite in different versions; all count together in one file.

let folder: string;
let remove: () => Promise<void>;
let program: string;
/** Node.js 24, which has node:sqlite, whichever version runs the tests. */
let node24: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-drivers-'));
  ({ file: program, remove } = await bundle(join(__dirname, 'taking-program.ts')));
  const name = `node-${platform()}-${arch()}`;
  node24 = join(await registryPackages('node', { [name]: '24.21.0' }), name, 'bin', 'node');
}, 300_000);
afterAll(async () => {
  await remove?.();
  await rm(folder, { recursive: true, force: true });
});

/** A process beside no module that it could load. */
async function takeElsewhere(file: string) {
  const { ok, output } = await run(node24, ['--no-warnings', program, file]);
  if (!ok) throw new Error(output);
  return JSON.parse(output) as Awaited<ReturnType<typeof takeAll>>;
}

test('libsql and node:sqlite decide together in one file, and admit exactly the limit', async () => {
  const file = join(folder, 'both.db');
  const all = await Promise.all([takeAll(file), takeElsewhere(file), takeElsewhere(file)]);
  expect(all.map(({ driver }) => driver)).toEqual(['libsql', 'node:sqlite', 'node:sqlite']);
  for (const key of KEYS) {
    const admitted = all.map((one) => one.admitted[key]!);
    expect([key, admitted.reduce((sum, one) => sum + one)]).toEqual([key, LIMIT]);
  }
  // Each of them took part.
  for (const { admitted } of all) expect(Object.values(admitted)).not.toEqual([0, 0]);
}, 120_000);

test('a file that one driver has made is read by the other', async () => {
  const file = join(folder, 'one.db');
  expect((await takeElsewhere(file)).admitted).toEqual({ ann: LIMIT, bob: LIMIT });
  expect(await takeAll(file)).toEqual({ driver: 'libsql', admitted: { ann: 0, bob: 0 } });
  const store = sqliteStore(file);
  expect(store.driver).toBeUndefined();
  await store.connect();
  expect(store.driver).toBe('libsql');
  await store.close();
}, 120_000);

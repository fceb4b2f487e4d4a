import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fixedWindow, RateLimiter } from '../../../packages/core/src/index.js';
import { sqliteStore } from '../../../packages/sqlite/src/index.js';
import { bundle } from '../../support/bundle.js';
import { eventually } from '../../support/eventually.js';

// Processes are killed while they decide. Each answered call is kept, and each kept call was answered, but for those under way.

const LIMIT = 1_000_000;
const IN_FLIGHT = 8;
const KILLS = 12;

let folder: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-killed-'));
});
afterAll(async () => {
  await remove?.();
  await rm(folder, { recursive: true, force: true });
});

test('no answered call is lost when its process is killed, and no other call is kept', async () => {
  const file = join(folder, 'limits.db');
  const program = await bundle(join(__dirname, 'killed-program.ts'));
  remove = program.remove;
  const driver = createRequire(__filename).resolve('libsql');
  let answered = 0;
  const start = (): ChildProcess => {
    const child = spawn(process.execPath, [program.file, file, driver, String(LIMIT), String(IN_FLIGHT)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface(child.stdout!).on('line', () => {
      answered += 1;
    });
    return child;
  };
  const children = [start(), start(), start()];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = answered;
    await eventually(async () => answered > before + 100);
    await sleep(kill * 3);
    const child = children.shift()!;
    child.kill('SIGKILL');
    await once(child, 'close');
    children.push(start());
  }
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(children.map((child) => once(child, 'close')));

  const store = sqliteStore(file);
  const policy = fixedWindow({ limit: LIMIT, window: '24h' });
  const limiter = new RateLimiter({ name: 'killed', policy, store, deadline: '10s' });
  const { remaining } = await limiter.peek('k');
  const taken = LIMIT - remaining;
  await limiter.close();
  await store.close();
  expect(taken).toBeGreaterThanOrEqual(answered);
  expect(taken).toBeLessThanOrEqual(answered + (KILLS + 3) * IN_FLIGHT);
}, 120_000);

// Tests the packages in Bun and Deno, as users install them: `npm run build`, then `node scripts/runtimes.mjs`.
// Not part of `npm test`: the two runtimes take 200 MB. Redis: REDIS_URL, or one that it starts itself.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { benchRedis } from '../bench/lib/redis.mjs';
import { loaded } from '../bench/lib/sources.mjs';

const RUNTIMES = { bun: '1.4.5', deno: '2.9.6' };
const OURS = ['decorators', 'express', 'fetch', 'hono', 'outgoing', 'sqlite'];
const OTHERS = ['express', 'hono', 'ioredis'];

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sluice-runtimes-'));
const redis = await benchRedis();
try {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  run(root, process.execPath, ['scripts/install-into.mjs', folder, '--no-build', ...OURS, ...OTHERS]);
  copyFileSync(join(root, 'tests/integration/runtimes/program.ts'), join(folder, 'program.ts'));
  const bun = await programOf('bun', `@oven/bun-linux-${architecture('x64', 'aarch64')}`, 'bin/bun');
  run(folder, bun, ['program.ts', redis.url]);
  const deno = await programOf('deno', `@deno/linux-${architecture('x64', 'arm64')}-glibc`, 'deno');
  run(folder, deno, ['run', '--allow-all', '--no-check', 'program.ts', redis.url]);
} finally {
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
}

function architecture(x64, arm64) {
  if (process.platform !== 'linux') throw new Error('This runs on Linux only');
  return process.arch === 'arm64' ? arm64 : x64;
}

/** Where a runtime is. It is installed at the first run, into node_modules/.cache. */
async function programOf(runtime, name, file) {
  const { registryPackages } = await loaded("export * from './registry-packages.ts'", 'tests/support');
  return join(await registryPackages(runtime, { [name]: RUNTIMES[runtime] }), name, file);
}

function run(cwd, command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: 300_000,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${error ?? ''}${stdout}${stderr}`);
  process.stdout.write(
    stdout
      .split('\n')
      .filter((line) => /^(Bun|Deno): /.test(line))
      .map((line) => `${line}\n`)
      .join(''),
  );
}

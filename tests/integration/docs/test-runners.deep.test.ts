import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { run } from '../../support/run.js';
import { blockTagged } from './markdown.js';

const root = resolve(__dirname, '../../..');
const page = join(root, 'docs/recipes/testing-your-limits.md');
const VITEST = 'vitest@3.2.4';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-test-runners-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The page's block for this runner, bundled with the sources of our packages. */
async function fileFor(runner: string, format: 'esm' | 'cjs', name: string): Promise<string> {
  const outfile = join(folder, name);
  await build({
    stdin: { contents: blockTagged(page, runner), resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format,
    target: 'node20',
    conditions: ['@sluice/source'],
    external: ['vitest', 'ioredis'],
    tsconfigRaw: {},
  });
  return outfile;
}

test('node:test runs the block for it', async () => {
  const file = await fileFor('node:test', 'cjs', 'node.test.cjs');
  const { ok, output } = await run(process.execPath, ['--test', file], { cwd: folder });
  expect([ok, output]).toEqual([true, expect.stringMatching(/pass 1\n[\s\S]*fail 0/)]);
});

test('Jest runs the block for it', async () => {
  await fileFor('jest', 'cjs', 'block.test.cjs');
  await writeFile(
    join(folder, 'jest.config.json'),
    '{ "testMatch": ["**/block.test.cjs"], "transform": {}, "moduleFileExtensions": ["js", "cjs"] }',
  );
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const { ok, output } = await run(process.execPath, [jest, '--rootDir', folder, '-i'], { cwd: folder });
  expect([ok, output]).toEqual([true, expect.stringContaining('1 passed, 1 total')]);
});

test('Vitest runs the block for it', async () => {
  const installed = await run('npm', ['install', '--no-save', '--prefix', folder, VITEST], { cwd: folder });
  expect(installed).toMatchObject({ ok: true });
  const file = await fileFor('vitest', 'esm', 'block.test.mjs');
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
  const { ok, output } = await run(process.execPath, [vitest, 'run', '--root', folder, file], {
    cwd: folder,
  });
  expect([ok, output]).toEqual([true, expect.stringMatching(/Tests\s+\S*1 passed/)]);
}, 180_000);

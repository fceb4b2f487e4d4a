import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { Installation } from './installation.js';

let installed: Installation;
beforeAll(async () => {
  installed = await Installation.create();
}, 300_000);
afterAll(() => installed?.remove());

const TIMEOUT = 120_000;
/** Gives an ES module `require`, which CommonJS packages in its bundle call. */
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

test('an ES module imports every package', () => installed.node(['main.mjs'], 'esm'), TIMEOUT);

test('a CommonJS module requires every package', () => installed.node(['main.cjs'], 'cjs'), TIMEOUT);

test(
  'the ESM and the CommonJS copy work together in one process',
  () => installed.node(['main.mjs'], 'both-copies'),
  TIMEOUT,
);

test.each(['ts-nodenext', 'ts-commonjs'])(
  'TypeScript, %s: checked strictly with our declarations, and run',
  async (project) => {
    await installed.tsc(project);
    await installed.node(['--enable-source-maps', 'out/main.js'], project);
  },
  TIMEOUT,
);

/** Its type parameters changed places: with skipLibCheck: false, declarations that name it fail under the other versions of @types/node. */
test('the declarations do not name the TracingChannel of Node', async () => {
  const packages = join(installed.folder, 'node_modules/@sluice');
  const files = await readdir(packages, { recursive: true });
  const declarations = files.filter((file) => file.endsWith('.d.ts'));
  const texts = await Promise.all(declarations.map((file) => readFile(join(packages, file), 'utf8')));
  expect(declarations).toContain(join('core', 'dist/cjs/telemetry/channels.d.ts'));
  expect(declarations.filter((_, n) => texts[n]?.includes('TracingChannel'))).toEqual([]);
});

test(
  'TypeScript, ts-bundler: checked strictly with our declarations, bundled, minified and run',
  async () => {
    await installed.tsc('ts-bundler');
    const folder = join(installed.folder, 'projects/ts-bundler');
    const outfile = join(folder, 'out/main.mjs');
    await build({
      absWorkingDir: folder,
      entryPoints: ['main.ts'],
      outfile,
      bundle: true,
      minify: true,
      keepNames: true, // as the README of the decorators says: a limit is named after its class
      format: 'esm',
      platform: 'node',
      target: 'node20',
      // jsonpath-plus, which the first wide path of a key loads, requires a module of Node.
      banner: { js: REQUIRE },
      external: ['ioredis'],
      logLevel: 'silent',
    });
    await installed.node([outfile], 'ts-bundler');
  },
  TIMEOUT,
);

test('the packed command starts', () =>
  installed.node(['node_modules/@sluice/cli/bin/sluice.mjs', 'completion', 'bash']));

test(
  'a release checks every package and says what would be published',
  async () => {
    const { ok, output } = await installed.release();
    if (!ok) throw new Error(output);
    for (const name of [
      'core',
      'express',
      'fastify',
      'koa',
      'fetch',
      'decorators',
      'otel',
      'rules',
      'cli',
      'nestjs',
    ]) {
      expect(output).toContain(`clean: @sluice/${name}, `);
      expect(output).toMatch(
        new RegExp(`would run: npm publish …/sluice-${name}-[\\d.]+tgz --access public --provenance\n`),
      );
    }
    expect(output).toContain('Nothing was published.');
  },
  TIMEOUT,
);

test.each([
  ['an ES module', ['--input-type=module', '-e', "import '@sluice/otel'"]],
  ['a CommonJS module', ['-e', "require('@sluice/otel')"]],
])('%s without @opentelemetry/api gets an error with its name', async (_, program) => {
  const api = join(installed.folder, 'node_modules/@opentelemetry');
  await rename(api, `${api}-hidden`);
  try {
    await expect(installed.node(program)).rejects.toThrow(
      /Cannot find (package|module) '@opentelemetry\/api'/,
    );
  } finally {
    await rename(`${api}-hidden`, api);
  }
});

test('a release with changes that have no version is refused', async () => {
  const { ok, output } = await installed.releaseWith('late.md', ['--pack', 'tarballs']);
  expect(ok).toBe(false);
  expect(output).toContain('Changes without a version: late.md. Run npm run changeset version');
});

import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { Installation } from './installation.js';

let installed: Installation;
beforeAll(async () => {
  installed = await Installation.create();
}, 300_000);
afterAll(() => installed?.remove());

/** `packages/*` is the list of packages. */
const folder = join(__dirname, '../../../packages');
const packages = readdirSync(folder).map((name): { name: string; exports: Record<string, unknown> } =>
  JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')),
);

const TIMEOUT = 300_000;
/** Gives an ES module `require`, which CommonJS packages in its bundle call. */
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

test('an ES module uses the packages', () => installed.node(['main.mjs'], 'esm'), TIMEOUT);

test('a CommonJS module uses the packages', () => installed.node(['main.cjs'], 'cjs'), TIMEOUT);

/** Every entry of every package that has code. */
const entries = packages.flatMap(({ name, exports }) =>
  Object.entries(exports)
    .filter(([, to]) => typeof to === 'object')
    .map(([entry]) => name + entry.slice(1)),
);

test.each([
  ['an ES module imports', (entry: string) => ['--input-type=module', '-e', `import '${entry}'`]],
  ['a CommonJS module requires', (entry: string) => ['-e', `require('${entry}')`]],
])(
  '%s each entry of each package',
  async (_, programOf) => {
    expect(entries.length).toBeGreaterThan(10);
    for (const entry of entries) await installed.node(programOf(entry));
  },
  TIMEOUT,
);

test(
  'the ESM and the CommonJS copy work together in one process',
  () => installed.node(['main.mjs'], 'both-copies'),
  TIMEOUT,
);

test.each(['ts-nodenext', 'ts-commonjs'])(
  'TypeScript checks %s strictly with our declarations, and it runs',
  async (project) => {
    await installed.tsc(project);
    await installed.node(['--enable-source-maps', 'out/main.js'], project);
  },
  TIMEOUT,
);

/** Versions of @types/node differ in the order of its type parameters, so declarations that use it would fail with skipLibCheck: false. */
test('our declarations do not use the TracingChannel of Node', async () => {
  const packages = join(installed.folder, 'node_modules/@sluice');
  const files = await readdir(packages, { recursive: true });
  const declarations = files.filter((file) => file.endsWith('.d.ts'));
  const texts = await Promise.all(declarations.map((file) => readFile(join(packages, file), 'utf8')));
  expect(declarations).toContain(join('core', 'dist/cjs/telemetry/channels.d.ts'));
  expect(declarations.filter((_, n) => texts[n]?.includes('TracingChannel'))).toEqual([]);
});

test(
  'TypeScript checks ts-bundler strictly with our declarations, and it runs bundled and minified',
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
  'a release checks every package and prints what it would publish',
  async () => {
    const { ok, output } = await installed.release('--no-build');
    if (!ok) throw new Error(output);
    for (const { name } of packages) {
      expect(output).toContain(`clean: ${name}, `);
      expect(output).toMatch(
        new RegExp(
          `would run: npm publish …/${name.replace('@sluice/', 'sluice-')}-[\\d.]+tgz --access public --provenance\n`,
        ),
      );
    }
    expect(output).toContain('Nothing was published.');
  },
  TIMEOUT,
);

test.each([
  ['an ES module', ['--input-type=module', '-e', "import '@sluice/otel'"]],
  ['a CommonJS module', ['-e', "require('@sluice/otel')"]],
])('%s without @opentelemetry/api gets an error that names it', async (_, program) => {
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

test('a release rejects changes without a version', async () => {
  const { ok, output } = await installed.releaseWith('late.md', ['--pack', 'tarballs']);
  expect(ok).toBe(false);
  expect(output).toContain('Changes without a version: late.md. Run npm run changeset version');
});

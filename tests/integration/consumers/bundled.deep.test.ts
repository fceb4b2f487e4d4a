import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { run } from '../../support/run.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-bundled-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Prints why a store cannot connect, in a program bundled as one ES module. */
async function whyNot(external: string[]): Promise<string> {
  const core = join(__dirname, '../../../packages/core/src/index.ts');
  const entry = join(folder, 'program.ts');
  const outfile = join(__dirname, `bundled-${external.length}.mjs`); // beside node_modules, for external packages
  await writeFile(
    entry,
    `import { redisStore } from ${JSON.stringify(core)};
     const store = redisStore('redis://127.0.0.1:1');
     await store.connect().catch((error) => console.log(error.message));
     await store.close();`,
  );
  const nodePaths = [join(__dirname, '../../../node_modules')];
  const options = { bundle: true, platform: 'node', format: 'esm', target: 'node20' } as const;
  const conditions = ['@sluice/source'];
  await build({
    ...options,
    entryPoints: [entry],
    outfile,
    external,
    nodePaths,
    conditions,
    logLevel: 'error',
  });
  try {
    return (await run(process.execPath, [outfile])).output;
  } finally {
    await rm(outfile);
  }
}

test('a bundle that contains ioredis gets an error with the cause and the remedy', async () => {
  const why = await whyNot([]);
  expect(why).toMatch(/cannot load the package ioredis: Dynamic require of "\w+" is not supported/);
  expect(why).toMatch(/In a bundle, leave ioredis outside \(external: \['ioredis'\]\)/);
});

test('a bundle with ioredis as an external package connects', async () => {
  expect(await whyNot(['ioredis'])).toMatch(/ECONNREFUSED/);
});

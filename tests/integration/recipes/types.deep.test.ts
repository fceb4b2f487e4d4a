import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from '../../support/run.js';
import { blockTagged } from '../docs/markdown.js';
import { recipePackages } from './packages.js';

const root = resolve(__dirname, '../../..');
/** Pages, and the blocks that make one program. */
const RECIPES = [
  ['recipes/socket-io', 'socket-io', 'socket-io-packets'],
  ['recipes/bullmq', 'bullmq'],
  ['recipes/kafka', 'kafka'],
  ['recipes/grpc', 'grpc'],
  ['recipes/trpc', 'trpc', 'trpc-wait'],
  ['recipes/graphql', 'yoga'],
  ['recipes/graphql', 'apollo'],
  ['host-stores', 'better-auth'],
] as const;

test('the programs of recipes fit the types of the packages that they use', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-types-')));
  try {
    const modules = await recipePackages();
    await symlink(modules, join(folder, 'node_modules'));
    for (const [page, ...tags] of RECIPES) {
      const texts = tags.map((tag) => blockTagged(join(root, `docs/${page}.md`), tag));
      await writeFile(join(folder, `${tags[0]}.ts`), `${texts.join('\n')}\nexport {};\n`);
    }
    const compilerOptions = {
      ...{ target: 'ES2022', lib: ['ES2022'], module: 'esnext', moduleResolution: 'bundler' },
      ...{ strict: true, noEmit: true, skipLibCheck: true, customConditions: ['@sluice/source'] },
      ...{ typeRoots: [join(root, 'node_modules/@types')], types: ['node'] },
      paths: {
        '@sluice/core': [join(root, 'packages/core/src/index.ts')],
        '@sluice/core/internal': [join(root, 'packages/core/src/internal.ts')],
        '@sluice/graphql': [join(root, 'packages/graphql/src/index.ts')],
        '@sluice/stores': [join(root, 'packages/stores/src/index.ts')],
        // One copy: its classes have private fields.
        graphql: [join(modules, 'graphql')],
      },
    };
    const files = RECIPES.map(([, tag]) => `${tag}.ts`);
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { ok, output } = await run(process.execPath, [tsc, '-p', folder], {
      cwd: folder,
      timeoutMs: 120_000,
    });
    expect([ok, output]).toEqual([true, '']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 300_000);

// Tests sluiceMeter with other versions of the AI SDK than the one of the workspace: `node scripts/ai-sdk.mjs`.
// Not part of `npm test`: each version with its packages takes more than 20 MB. Version 7 needs Node.js 22.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const VERSIONS = {
  5: ['ai@5.0.277', '@ai-sdk/openai@2.0.131', 'zod@4'],
  7: ['ai@7.0.173', '@ai-sdk/openai@4.0.118', 'zod@4'],
};
const root = fileURLToPath(new URL('..', import.meta.url));
const program = join(root, 'tests/integration/meter/ai-sdk.ts');

const folder = mkdtempSync(join(tmpdir(), 'sluice-ai-sdk-'));
try {
  for (const [version, packages] of Object.entries(VERSIONS)) await check(version, packages);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function check(version, packages) {
  const cwd = join(folder, version);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), '{ "private": true, "type": "module" }');
  run(cwd, 'npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages]);
  await build({
    entryPoints: [program],
    outfile: join(cwd, 'program.js'),
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'error' },
    conditions: ['@sluice/source'],
    external: ['ai', '@ai-sdk/openai', 'ioredis', 'jsonpath-plus'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  run(cwd, process.execPath, ['program.js']);
  checkTypes(cwd);
  console.log(`AI SDK ${version}: passed (${packages.join(', ')})`);
}

/** The middleware fits `wrapLanguageModel` also by its types. */
function checkTypes(cwd) {
  writeFileSync(
    join(cwd, 'types.ts'),
    `import { createOpenAI } from '@ai-sdk/openai';
import { wrapLanguageModel } from 'ai';
import type { ModelMiddleware } from '${join(root, 'packages/meter/src/index.ts')}';
declare const middleware: ModelMiddleware;
wrapLanguageModel({ model: createOpenAI({})('m'), middleware });
`,
  );
  const compilerOptions = {
    ...{ target: 'ES2022', lib: ['ES2022', 'DOM'], module: 'nodenext', moduleResolution: 'nodenext' },
    ...{ customConditions: ['@sluice/source'], strict: true, exactOptionalPropertyTypes: true },
    ...{ skipLibCheck: true, noEmit: true, allowImportingTsExtensions: true },
    ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
  };
  writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['types.ts'] }));
  run(cwd, process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.']);
}

function run(cwd, command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 120_000 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
}

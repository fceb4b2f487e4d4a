// Writes packages/rules/schema.json, for editors, from the zod schema of a document of rules.
//   node scripts/schema.mjs           writes it
//   node scripts/schema.mjs --check   fails if it does not match the zod schema
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { root } from './packages.mjs';

const target = join(root, 'packages/rules/schema.json');
const source = `
import { z } from 'zod';
import { documentSchema } from './packages/rules/src/document/schema.ts';
export const schema = z.toJSONSchema(documentSchema, { target: 'draft-7', io: 'input', reused: 'ref' });
`;

/** The sources are TypeScript, which Node 20 does not read. Beside node_modules, so that packages are found. */
const folder = await mkdtemp(join(root, 'node_modules/.schema-'));
let schema;
try {
  const outfile = join(folder, 'schema.cjs');
  await build({
    stdin: { contents: source, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    conditions: ['@sluice/source'],
    logLevel: 'error',
  });
  schema = createRequire(import.meta.url)(outfile).schema;
} finally {
  await rm(folder, { recursive: true });
}

const { $schema, ...rest } = schema;
const text = `${JSON.stringify({ $schema, title: 'Rules of Sluice', ...rest }, null, 2)}\n`;
if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
  if (process.argv.includes('--check')) {
    console.error(`${relative(root, target)} does not match its zod schema: run npm run scripts`);
    process.exitCode = 1;
  } else {
    writeFileSync(target, text);
    console.log(`wrote ${relative(root, target)}`);
  }
}

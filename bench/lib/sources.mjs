import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a program can only load as it is installed. */
const EXTERNAL = ['ioredis', 'pg', 'postgres', 'libsql', 'better-sqlite3', 'bun:sqlite', 'graphql'];

/**
 * Bundles sources of this repository into a file that Node.js runs, so that a bench needs no build.
 * @param code an ECMAScript module, such as `export * from '@sluice/core'`
 * @param folder its folder, for relative imports, from the root
 * @returns the file, which `remove` removes
 */
export async function bundled(code, folder = '.') {
  const cache = join(root, 'node_modules/.cache/sluice-bench');
  mkdirSync(cache, { recursive: true });
  const file = join(cache, `${process.pid}-${Math.random().toString(36).slice(2)}.mjs`);
  const resolveDir = join(root, folder);
  await build({
    stdin: { contents: code, resolveDir },
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@sluice/source'],
    external: EXTERNAL,
    // What CommonJS has, for sources that use it.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    define: {
      __dirname: JSON.stringify(resolveDir),
      __filename: JSON.stringify(join(resolveDir, 'bench.ts')),
    },
    logLevel: 'error',
  });
  return { file, remove: () => rmSync(file, { force: true }) };
}

/** Runs such a module here. */
export async function loaded(code, folder) {
  const { file, remove } = await bundled(code, folder);
  try {
    return await import(pathToFileURL(file).href);
  } finally {
    remove();
  }
}

/** Our stores of databases, with the same core. */
export const STORES = `
  export * from '@sluice/core';
  export { sqliteStore } from '@sluice/sqlite';
  export { postgresStore } from '@sluice/postgres';
`;

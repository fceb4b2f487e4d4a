// Draws docs/pictures/*.svg and fills in the tables of docs/choosing.md and docs/prefetch.md, from runs of real limiters.
//   node scripts/pictures.mjs                       writes them
//   node scripts/pictures.mjs --check               fails if one of them would change
//   node scripts/pictures.mjs --show tokenBucket    prints one picture, or all, in the terminal
//   node scripts/pictures.mjs --memory              measures a key's memory, and writes that table
//   node scripts/pictures.mjs --memory --print      prints it instead
// Only --memory needs Redis: REDIS_URL, or one that it starts itself. No build is needed.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

try {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean' },
      show: { type: 'string' },
      memory: { type: 'boolean' },
      print: { type: 'boolean' },
    },
  });
  if (values.memory) await memory(values.print);
  else if (values.show !== undefined) console.log(await (await bundled('page')).shown(values.show));
  else {
    const files = await (await bundled('page')).generated(root);
    if (values.check) check(files);
    else for (const [path, text] of files) write(path, text);
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function memory(print) {
  const { benchRedis } = await import('../bench/lib/redis.mjs');
  const { memoryTable } = await bundled('memory');
  const redis = await benchRedis();
  try {
    const text = await memoryTable(redis.url);
    if (print) return console.log(text);
    const { PAGE, withSection } = await bundled('page');
    write(PAGE, withSection(readFileSync(join(root, PAGE), 'utf8'), 'memory', text));
  } finally {
    await redis.stop();
  }
}

function write(path, text) {
  if (isWritten(path, text)) return;
  writeFileSync(join(root, path), text);
  console.log(`wrote ${path}`);
}

function check(files) {
  const outdated = [...files].filter(([path, text]) => !isWritten(path, text)).map(([path]) => path);
  if (outdated.length > 0) throw new Error(`Out of date, run npm run pictures:\n${outdated.join('\n')}`);
  console.log(`${files.size} pictures and pages are up to date`);
}

function isWritten(path, text) {
  const file = join(root, path);
  return existsSync(file) && readFileSync(file, 'utf8') === text;
}

/** A module of scripts/pictures, with the sources of the packages it uses. */
async function bundled(name) {
  const folder = join(root, 'node_modules/.cache/sluice-pictures');
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `${name}-${process.pid}.mjs`);
  await build({
    entryPoints: [join(root, `scripts/pictures/${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@sluice/source'],
    external: ['ioredis', 'ipaddr.js'],
    logLevel: 'error',
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile);
  }
}

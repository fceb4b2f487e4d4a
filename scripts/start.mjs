// node scripts/start.mjs <example>: runs an example from the sources of all packages. It needs no build.
// Environment: PORT (3000), and the variables of the example.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { root } from './packages.mjs';

try {
  const entry = join(root, 'examples', process.argv[2] ?? '', 'src/main.ts');
  if (!existsSync(entry)) throw new Error(`There is no example ${JSON.stringify(process.argv[2])}`);
  await checkPort(process.env.PORT ?? '3000');
  await run(entry);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

/** Checks the port before anything is compiled. The example itself rejects an invalid port. */
function checkPort(text) {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', ({ code, message }) =>
      reject(new Error(code === 'EADDRINUSE' ? busy(port) : message)),
    );
    server.listen(port, '127.0.0.1', () => server.close(resolve));
  });
}

function busy(port) {
  return `Port ${port} is in use: choose another, as in PORT=${port < 65_535 ? port + 1 : port - 1} npm start`;
}

/** Bundles the example, the packages and their imports with esbuild, in less than a second. */
async function run(entry) {
  const { build } = await esbuild();
  // Below node_modules, where the program finds what it loads while it runs: the driver of a database.
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'sluice-start-'));
  try {
    const outfile = join(folder, 'main.cjs');
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'cjs',
      conditions: ['@sluice/source'],
      logLevel: 'error',
    });
    createRequire(import.meta.url)(outfile);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function esbuild() {
  return import('esbuild').catch((cause) => {
    throw new Error('esbuild is not installed: run npm install first', { cause });
  });
}

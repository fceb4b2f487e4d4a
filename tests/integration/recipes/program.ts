import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { eventually } from '../../support/eventually.js';
import { programEnv } from '../../support/program-env.js';
import { freePort } from '../../support/redis/free-port.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { blockTagged } from '../docs/markdown.js';

const root = resolve(__dirname, '../../..');
const own = join(root, 'node_modules');

/** A block of a page that runs as a program. */
export interface Program {
  /** Where it listens. */
  readonly url: string;
  /** stdout and stderr so far. */
  output(): string;
  stop(): Promise<void>;
}

/**
 * Starts the block of a page that begins with `` ```ts <tag> ``. Its port 3000 becomes a free one, its Redis the server of the test run, and
 * the names of its limits unique.
 * @param modules a `node_modules` folder with packages that this repository does not install
 * @param files what the block imports: texts by name
 * @param replace more texts of the block, and their replacements
 * @param ready a text that the program prints when it works; without it the program must listen
 */
export async function startBlock(
  page: string,
  tag: string,
  {
    modules = own,
    files = {},
    replace = {},
    ready,
  }: {
    modules?: string;
    files?: Readonly<Record<string, string>>;
    replace?: Readonly<Record<string, string>>;
    ready?: string;
  } = {},
): Promise<Program> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-recipe-')));
  const port = await freePort();
  const all = {
    'redis://127.0.0.1:6379': redisUrl(),
    '3000': String(port),
    "name: '": `name: '${uniqueName('recipe')}-`,
    ...replace,
  };
  const texts = { ...files, 'program.ts': blockTagged(join(root, page), tag) };
  for (const [file, text] of Object.entries(texts)) {
    const replaced = Object.entries(all).reduce((sum, [from, to]) => sum.replaceAll(from, to), text);
    await writeFile(join(folder, file), replaced);
  }
  const names = new Set<string>();
  await build({
    entryPoints: [join(folder, 'program.ts')],
    nodePaths: [own],
    outfile: join(folder, 'program.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@sluice/source'],
    plugins: [othersOutside(names)],
    tsconfigRaw: {},
    logLevel: 'error',
  });
  for (const name of names) await link(name, [modules, own], join(folder, 'node_modules'));
  const child = spawn(process.execPath, [join(folder, 'program.mjs')], { cwd: folder, env: programEnv });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  const works = () => (ready === undefined ? answers(url) : Promise.resolve(output.includes(ready)));
  try {
    await eventually(async () => child.exitCode !== null || (await works()));
    if (child.exitCode !== null) throw new Error('it ended');
  } catch (cause) {
    await stop();
    throw new Error(`the block of ${page} does not work:\n${output}`, { cause });
  }
  return { url, output: () => output, stop };
}

/** Leaves every package but ours out of the bundle. @param names gets the names of these packages */
const othersOutside = (names: Set<string>): Plugin => ({
  name: 'others-outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[\w@]/ }, ({ path, kind }) => {
      if (kind === 'entry-point' || path.startsWith('@sluice/') || path.startsWith('node:')) return undefined;
      names.add(path.split('/', path.startsWith('@') ? 2 : 1).join('/'));
      return { path, external: true };
    });
  },
});

async function link(name: string, folders: readonly string[], target: string): Promise<void> {
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) return; // an optional client, or a module of Node.js
  await mkdir(dirname(join(target, name)), { recursive: true });
  await symlink(await realpath(found), join(target, name), 'junction');
}

const answers = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(5000) }).then(
    () => true,
    () => false,
  );

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}

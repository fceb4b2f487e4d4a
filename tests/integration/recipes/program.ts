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
/** Of the start of a program on a busy machine; less than the time of a test. */
const START_MS = 50_000;

/** A block of a page that runs as a program. */
export interface Program {
  /** Where it listens. */
  readonly url: string;
  /** stdout and stderr so far. */
  output(): string;
  /** Sends SIGTERM. @returns its exit code when it has ended */
  terminate(): Promise<number | null>;
  stop(): Promise<void>;
}

/** A block of a page, built as a program. */
export interface BuiltBlock {
  /** The file to run, and its folder. */
  readonly file: string;
  readonly folder: string;
  /** Where it will listen. */
  readonly url: string;
  remove(): Promise<void>;
}

/** How a block becomes a program. */
export interface BlockOptions {
  /** A `node_modules` folder with packages that this repository does not install. */
  readonly modules?: string;
  /** What the block imports: texts by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** More texts of the block, and their replacements. */
  readonly replace?: Readonly<Record<string, string>>;
}

/**
 * Builds the block of a page that begins with `` ```ts <tag> ``. Its port 3000 becomes a free one, its Redis the server of the test run, and
 * the names of its limits unique. Its limits have a long deadline: Redis decides, also on a busy machine.
 */
export async function buildBlock(
  page: string,
  tag: string,
  { modules = own, files = {}, replace = {} }: BlockOptions = {},
): Promise<BuiltBlock> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-recipe-')));
  const port = await freePort();
  const all = {
    'redis://127.0.0.1:6379': redisUrl(),
    '3000': String(port),
    " name: '": ` name: '${uniqueName('recipe')}-`,
    ...replace,
  };
  const texts = { ...files, 'program.ts': blockTagged(join(root, page), tag) };
  for (const [file, text] of Object.entries(texts)) {
    const replaced = Object.entries(all).reduce((sum, [from, to]) => sum.replaceAll(from, to), text);
    const patient = replaced.replaceAll(/\b(?=(?:policy|perCredential): )/g, "deadline: '30s', ");
    await writeFile(join(folder, file), patient);
  }
  const names = new Set<string>();
  const file = join(folder, 'program.mjs');
  await build({
    entryPoints: [join(folder, 'program.ts')],
    nodePaths: [own],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // For modules that are loaded at their first use.
    banner: {
      js: "import { createRequire as __of } from 'node:module'; const require = __of(import.meta.url);",
    },
    target: 'node20',
    conditions: ['@sluice/source'],
    plugins: [othersOutside(names)],
    tsconfigRaw: {},
    logLevel: 'error',
  });
  for (const name of names) await link(name, [modules, own], join(folder, 'node_modules'));
  const remove = () => rm(folder, { recursive: true, force: true });
  return { file, folder, url: `http://127.0.0.1:${port}`, remove };
}

/**
 * Builds a block, and starts it.
 * @param ready a text that the program prints when it works; without it the program must listen
 */
export async function startBlock(
  page: string,
  tag: string,
  { ready, ...options }: BlockOptions & { readonly ready?: string } = {},
): Promise<Program> {
  const { file, folder, url, remove } = await buildBlock(page, tag, options);
  const child = spawn(process.execPath, [file], { cwd: folder, env: programEnv });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const stop = async () => {
    await end(child);
    await remove();
  };
  const works = () => (ready === undefined ? answers(url) : Promise.resolve(output.includes(ready)));
  try {
    await eventually(async () => child.exitCode !== null || (await works()), undefined, START_MS);
    if (child.exitCode !== null) throw new Error('it ended');
  } catch (cause) {
    await stop();
    throw new Error(`the block of ${page} does not work:\n${output}`, { cause });
  }
  const terminate = async () => {
    child.kill('SIGTERM');
    await eventually(async () => child.exitCode !== null || child.signalCode !== null);
    return child.exitCode;
  };
  return { url, output: () => output, terminate, stop };
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

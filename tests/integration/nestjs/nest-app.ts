import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { transform } from '@swc/core';
import { build, type Format, type Plugin } from 'esbuild';

import { programEnv } from '../../support/program-env.js';
import { within } from '../../support/within.js';

/** The folder from which programs load Nest: this one, or one with another version. */
const root = process.env.SLUICE_TEST_NEST ?? resolve(__dirname, '../../..');
const ADDRESS = /(http:\/\/127\.0\.0\.1:\d+)\D/;
const START_MS = 50_000;

/** An application in its own process, because Nest is ESM only and Jest is not. */
export class NestApp {
  #output = '';
  #exited: Promise<number | null>;

  private constructor(readonly child: ChildProcess) {
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk) => (this.#output += chunk));
    this.#exited = once(child, 'close').then(([code]) => code as number | null);
  }

  /** Starts a compiled application and waits until it prints its address. @throws Error with its output if it ends earlier */
  static async start(file: string, env: Record<string, string> = {}): Promise<NestApp> {
    const app = NestApp.spawn(file, env);
    const ended = app.#exited.then((code) => {
      throw new Error(`${file} ended with ${code}:\n${app.output}`);
    });
    const address = () => `${file} prints its address; it printed:\n${app.output}`;
    try {
      await within(Promise.race([ended, app.#listening()]), address, START_MS);
    } catch (error) {
      await app.kill(); // it must not outlive a failed test
      throw error;
    }
    ended.catch(() => {}); // the caller has the error already, or awaits it later
    return app;
  }

  static spawn(file: string, env: Record<string, string> = {}): NestApp {
    return new NestApp(spawn(process.execPath, [file], { env: { ...programEnv, ...env }, stdio: 'pipe' }));
  }

  /** Its output and its log so far. */
  get output(): string {
    return this.#output;
  }

  get url(): string {
    return ADDRESS.exec(this.#output)![1]!;
  }

  /** Waits for a text in its output, which may arrive after the answer to a request. */
  async says(text: string): Promise<void> {
    const { stdout, stderr } = this.child;
    const waiting = async () => {
      while (!this.#output.includes(text)) await Promise.race([once(stdout!, 'data'), once(stderr!, 'data')]);
    };
    await within(waiting(), () => `the program says ${text}; it said: ${this.#output}`);
  }

  /** Waits until it ends by itself. */
  exited(): Promise<number | null> {
    return this.#exited;
  }

  /** Closes the application by ending its standard input, and waits for the end of the process. */
  async close(): Promise<number | null> {
    this.child.stdin!.end();
    return this.#exited;
  }

  /** Ends an application that a failed test left running. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#exited;
  }

  async #listening(): Promise<void> {
    while (!ADDRESS.test(this.#output)) await once(this.child.stdout!, 'data');
  }
}

/**
 * Compiles an application with the sources of our packages. It loads Nest and other packages from the repository; a program that starts
 * many times has them in its own file, which halves its loading time.
 */
export async function compile(
  source: string,
  format: Format = 'esm',
  others: 'outside' | 'inside' = 'outside',
) {
  const name = source.replace(/^.*[/\\]|\.legacy\.ts$/g, '');
  const folder = join(root, 'node_modules/.cache/sluice-nestjs', `${process.pid}-${name}-${format}`);
  const remove = () => rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const file = join(folder, format === 'esm' ? 'main.mjs' : 'main.cjs');
  const inside = others === 'inside' && process.env.SLUICE_TEST_NEST === undefined;
  const built = build({
    entryPoints: [source],
    outfile: file,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format,
    keepNames: true,
    conditions: ['@sluice/source'],
    banner: inside ? { js: REQUIRE } : {},
    plugins: [inside ? othersComeAlong : othersStayOutside, legacyDecorators],
    logLevel: 'error',
  });
  await built.catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  return { file, remove };
}

const othersStayOutside: Plugin = {
  name: 'others stay outside',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./#]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@sluice/') ? undefined : { path, external: true },
    ),
};

/** Declares names that an ES module lacks, for the CommonJS modules in it. */
const REQUIRE =
  "import { createRequire as __requireOf } from 'node:module'; import { dirname as __dirnameOf } from 'node:path'; import { fileURLToPath as __pathOf } from 'node:url';" +
  'const require = __requireOf(import.meta.url), __filename = __pathOf(import.meta.url), __dirname = __dirnameOf(__filename);';

const othersComeAlong: Plugin = {
  name: 'others come along',
  setup: ({ onResolve, resolve: find }) =>
    onResolve({ filter: /^[^./#]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === 'resolving' || kind === 'entry-point') return undefined;
      const { errors } = await find(path, { kind, importer, resolveDir, pluginData: 'resolving' });
      // Optional dependencies of Nest are not installed.
      return errors.length > 0 ? { path, external: true } : undefined;
    }),
};

/** swc writes the metadata that Nest needs for injection; esbuild does not. */
const legacyDecorators: Plugin = {
  name: 'legacy decorators',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.legacy\.ts$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, 'utf8'), {
        filename: path,
        swcrc: false,
        sourceMaps: 'inline',
        module: { type: 'es6' },
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
      });
      return { contents: code, loader: 'js' };
    }),
};

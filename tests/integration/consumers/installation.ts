import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Finished, run } from '../../support/run.js';
import { buildPackages, isSource } from './built-packages.js';

const root = resolve(__dirname, '../../..');
const modules = join(root, 'node_modules');

/** Declarations that users of these frameworks also install. */
const TYPES = ['@types/node', '@types/express', '@types/koa'];

/**
 * The packages as users get them: built and packed from a copy of the sources, so that no other build or test run of this clone
 * interferes, and installed outside the workspace, where they find only the packages that they declare.
 */
export class Installation {
  private constructor(readonly folder: string) {}

  static async create(): Promise<Installation> {
    // macOS: tmpdir() is itself a link, which tsc would resolve.
    const installation = new Installation(await realpath(await mkdtemp(join(tmpdir(), 'sluice-consumers-'))));
    await installation.#copyWorkspace();
    await installation.#install(await buildPackages(installation.#workspace));
    await cp(join(__dirname, 'projects'), join(installation.folder, 'projects'), { recursive: true });
    return installation;
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }

  /** Runs Node in a project, or in the installation's folder. @throws Error with its output if it fails */
  async node(args: readonly string[], project?: string): Promise<void> {
    const { ok, output } = await run(process.execPath, args, { cwd: this.#folderOf(project) });
    if (!ok) throw new Error(`node ${args.join(' ')} failed:\n${output}`);
  }

  /** `npm run install-into` with the packages as they were built. */
  installInto(project: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Finished> {
    const script = [join(this.#workspace, 'scripts/install-into.mjs'), project, ...args, '--no-build'];
    return run(process.execPath, script, { env, timeoutMs: 300_000 });
  }

  /** `npm run release` in the copy of the sources, which is built. */
  release(...args: string[]): Promise<{ ok: boolean; output: string }> {
    return run(process.execPath, ['scripts/release.mjs', ...args], { cwd: this.#workspace });
  }

  /** `npm run release` with a change that has no version yet. */
  async releaseWith(change: string, args: readonly string[]): Promise<{ ok: boolean; output: string }> {
    const file = join(this.#workspace, '.changeset', change);
    await writeFile(file, '---\n"@sluice/core": patch\n---\nA change.\n');
    try {
      return await this.release(...args);
    } finally {
      await rm(file);
    }
  }

  /**
   * Type-checks and compiles a project by its tsconfig.json: its code and our declarations. Errors in declarations of others are
   * ignored. @throws Error with the errors
   */
  async tsc(project: string): Promise<void> {
    const tsc = [join(modules, 'typescript/bin/tsc'), '--pretty', 'false', '-p', '.'];
    const { ok, output } = await run(process.execPath, tsc, { cwd: this.#folderOf(project) });
    const errors = output.split('\n').filter((line) => /\berror TS\d+:/.test(line));
    const ours = errors.filter((line) => !/^\S*node_modules\/(?!@sluice\/)/.test(line));
    if (ours.length > 0 || (!ok && errors.length === 0)) throw new Error(`tsc -p ${project}:\n${output}`);
  }

  #folderOf(project: string | undefined): string {
    return project === undefined ? this.folder : join(this.folder, 'projects', project);
  }

  get #workspace(): string {
    return join(this.folder, 'workspace');
  }

  async #copyWorkspace(): Promise<void> {
    for (const part of [
      'package.json',
      'tsconfig.json',
      'tsconfig.build.json',
      'scripts',
      'packages',
      '.changeset',
    ]) {
      await cp(join(root, part), join(this.#workspace, part), { recursive: true, filter: isSource });
    }
    const target = join(this.#workspace, 'node_modules');
    for (const name of await readdir(modules)) {
      if (!name.startsWith('.') && name !== '@sluice') await link(join(modules, name), join(target, name));
    }
    for (const name of await readdir(join(this.#workspace, 'packages'))) {
      await link(join(this.#workspace, 'packages', name), join(target, '@sluice', name));
    }
  }

  /** Like `npm install <tarballs>`, but without the network: other packages are links to our own node_modules. */
  async #install(tarballs: string): Promise<void> {
    const target = join(this.folder, 'node_modules');
    const others = new Set(TYPES);
    for (const tarball of await readdir(tarballs)) {
      const folder = join(target, '@sluice', tarball.replace(/^sluice-(.*)-\d+\.\d+\.\d+\.tgz$/, '$1'));
      await mkdir(folder, { recursive: true });
      const unpacking = ['-xzf', join(tarballs, tarball), '-C', folder, '--strip-components', '1'];
      const { ok, output } = await run('tar', unpacking);
      if (!ok) throw new Error(`tar ${unpacking.join(' ')} failed:\n${output}`);
      const { dependencies, peerDependencies } = JSON.parse(
        await readFile(join(folder, 'package.json'), 'utf8'),
      );
      for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
        if (!name.startsWith('@sluice/')) others.add(name);
      }
    }
    for (const name of others) await link(join(modules, name), join(target, name));
  }
}

async function link(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await symlink(from, to, 'junction');
}

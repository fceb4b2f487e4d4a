import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { freePort } from '../../support/redis/free-port.js';
import { registryPackages } from '../../support/registry-packages.js';
import { run } from '../../support/run.js';

const env = { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' as const };

/** A Next.js project that was built. */
export class NextProject {
  #server: ChildProcess | undefined;

  private constructor(
    readonly folder: string,
    readonly built: { readonly ok: boolean; readonly output: string },
  ) {}

  /** @param packages folders of our packages as they are installed, by their names @param files the sources of the project, by path */
  static async build(
    packages: Readonly<Record<string, string>>,
    files: Readonly<Record<string, string>>,
  ): Promise<NextProject> {
    const versions = { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1' };
    const modules = await registryPackages('next', versions);
    // Turbopack follows links below its root only, so the project is beside the packages.
    const root = await realpath(dirname(modules));
    const folder = await mkdtemp(join(root, 'project-'));
    for (const name of Object.keys(versions)) await link(join(modules, name), folder, name);
    for (const [name, path] of Object.entries(packages)) {
      await cp(path, join(folder, 'node_modules', name), { recursive: true, dereference: true });
    }
    const config = { turbopack: { root } };
    const all = { 'next.config.mjs': `export default ${JSON.stringify(config)};\n`, ...files };
    for (const [path, text] of Object.entries(all)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const built = await run(process.execPath, [NextProject.#command(folder), 'build'], {
      cwd: folder,
      env,
      timeoutMs: 800_000,
    });
    return new NextProject(folder, built);
  }

  static #command(folder: string): string {
    return createRequire(join(folder, 'package.json')).resolve('next/dist/bin/next');
  }

  /** @returns its address */
  async start(): Promise<string> {
    const port = await freePort();
    const args = [
      NextProject.#command(this.folder),
      'start',
      '--port',
      String(port),
      '--hostname',
      '127.0.0.1',
    ];
    this.#server = spawn(process.execPath, args, {
      cwd: this.folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const data of this.#server.stdout!) if (String(data).includes('Ready')) break;
    return `http://127.0.0.1:${port}`;
  }

  async remove(): Promise<void> {
    if (this.#server !== undefined && this.#server.exitCode === null) {
      const closed = once(this.#server, 'close');
      this.#server.kill('SIGKILL');
      await closed;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function link(from: string, folder: string, name: string): Promise<void> {
  const to = join(folder, 'node_modules', name);
  await mkdir(dirname(to), { recursive: true });
  await symlink(await realpath(from), to, 'junction');
}

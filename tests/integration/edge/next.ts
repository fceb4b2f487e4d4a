import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/redis/free-port.js';
import { registryPackages } from '../../support/registry-packages.js';
import { type Finished, run } from '../../support/run.js';

const env = { NEXT_TELEMETRY_DISABLED: '1' };
const production = { NODE_ENV: 'production' as const };

/** A Next.js project. */
export class NextProject {
  #server: ChildProcess | undefined;
  #output = '';

  private constructor(readonly folder: string) {}

  /** @param packages folders of our packages as they are installed, by their names @param files the sources of the project, by path;
   *   `own.config.mjs` has its configuration */
  static async create(
    packages: Readonly<Record<string, string>>,
    files: Readonly<Record<string, string>>,
  ): Promise<NextProject> {
    const versions = { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1', ioredis: '6.0.0' };
    const modules = await registryPackages('next', versions);
    // Turbopack follows links below its root only, so the project is beside the packages.
    const root = await realpath(dirname(modules));
    const folder = await mkdtemp(join(root, 'project-'));
    for (const name of Object.keys(versions)) await link(join(modules, name), folder, name);
    for (const [name, path] of Object.entries(packages)) {
      await cp(path, join(folder, 'node_modules', name), { recursive: true, dereference: true });
    }
    const config = `import own from './own.config.mjs';
export default { ...own, turbopack: { root: ${JSON.stringify(root)} } };
`;
    const all = { 'own.config.mjs': 'export default {};\n', 'next.config.mjs': config, ...files };
    for (const [path, text] of Object.entries(all)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    return new NextProject(folder);
  }

  /** `next build` */
  build(): Promise<Finished> {
    const args = [this.#command, 'build'];
    return run(process.execPath, args, {
      cwd: this.folder,
      env: { ...env, ...production },
      timeoutMs: 800_000,
    });
  }

  /** @param command `start` serves what was built, `dev` the sources @returns its address */
  async start(command: 'start' | 'dev' = 'start'): Promise<string> {
    const port = await freePort();
    const args = [this.#command, command, '--port', String(port), '--hostname', '127.0.0.1'];
    const mode = command === 'start' ? production : { NODE_ENV: 'development' as const };
    this.#server = spawn(process.execPath, args, {
      cwd: this.folder,
      env: { ...process.env, ...env, ...mode },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // `next dev` starts a server of its own: both end together
    });
    for (const stream of [this.#server.stdout!, this.#server.stderr!]) {
      stream.on('data', (data) => {
        this.#output += data;
      });
    }
    await eventually(async () => this.#output.includes('Ready') || this.#server!.exitCode !== null);
    return `http://127.0.0.1:${port}`;
  }

  /** What the started server has printed. */
  output(): string {
    return this.#output;
  }

  get #command(): string {
    return createRequire(join(this.folder, 'package.json')).resolve('next/dist/bin/next');
  }

  async remove(): Promise<void> {
    if (this.#server !== undefined && this.#server.exitCode === null) {
      const closed = once(this.#server, 'close');
      process.kill(-this.#server.pid!, 'SIGKILL');
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

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { registryPackages } from '../../support/registry-packages.js';

const PLATFORMS: Readonly<Record<string, string>> = {
  'linux-x64': 'linux-64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'darwin-64',
  'darwin-arm64': 'darwin-arm64',
};

export interface Worker {
  readonly url: string;
  /** Its output so far. */
  output(): string;
  stop(): Promise<void>;
}

/** Serves a worker in workerd, the runtime of Cloudflare Workers. @param date its compatibility date */
export async function startWorker(
  script: string,
  date: string,
  flags: readonly string[] = [],
): Promise<Worker> {
  const name = `@cloudflare/workerd-${PLATFORMS[`${process.platform}-${process.arch}`]}`;
  const modules = await registryPackages('workerd', { [name]: '1.20261117.1' });
  const folder = await mkdtemp(join(tmpdir(), 'sluice-worker-'));
  await writeFile(join(folder, 'worker.mjs'), script);
  await writeFile(join(folder, 'config.capnp'), configuration(date, flags));
  // It reports the port on the file descriptor 3.
  const child = spawn(join(modules, name, 'bin/workerd'), ['serve', 'config.capnp', '--control-fd=3'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout?.on('data', (data) => (output += data));
  child.stderr?.on('data', (data) => (output += data));
  const closed = once(child, 'close');
  const stop = async () => {
    child.kill('SIGKILL');
    await closed;
    await rm(folder, { recursive: true, force: true });
  };
  const listening = once(child.stdio[3] as Readable, 'data');
  const [report] = await Promise.race([listening, closed.then(() => [undefined])]);
  const port = /"port":(\d+)/.exec(String(report))?.[1];
  if (port === undefined) {
    await stop();
    throw new Error(`workerd did not start:\n${output}`);
  }
  return { url: `http://127.0.0.1:${port}`, output: () => output, stop };
}

const configuration = (date: string, flags: readonly string[]): string => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["public", "private", "local"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.mjs")],
  compatibilityDate = "${date}",
  compatibilityFlags = ${JSON.stringify(flags)},
);
`;

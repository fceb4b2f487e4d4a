import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { letTheTestProcessEnd, reapWithUs } from '../child.ts';
import { obtainProgram } from '../debian.ts';
import { programEnv } from '../program-env.ts';
import { freePort } from '../redis/free-port.ts';
import { within } from '../within.ts';
import { POSTGRES_USER } from './user.ts';

export interface PgBouncer {
  /** Leads to the same database as the address before. */
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

export interface PgBouncerOptions {
  /** Default `'transaction'`. */
  readonly mode?: 'session' | 'transaction' | 'statement';
  /** More lines of its configuration, such as `{ default_pool_size: 1 }`. */
  readonly config?: Readonly<Record<string, string | number>>;
}

const LISTENING = 'process up';

/** Starts a pgbouncer before a Postgres, on a free port of 127.0.0.1. */
export async function startPgBouncer(
  postgresUrl: string,
  options: PgBouncerOptions = {},
): Promise<PgBouncer> {
  const program = await obtainProgram('pgbouncer', 'pgbouncer', { libraries: true });
  const { hostname, port: serverPort, username, password } = new URL(postgresUrl);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-pgbouncer-'));
  const port = await freePort();
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'plain',
    auth_file: join(folder, 'users'),
    pool_mode: options.mode ?? 'transaction',
    ...options.config,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const server = `* = host=${hostname} port=${serverPort}`;
  await writeFile(join(folder, 'users'), `"${username}" "${password}"\n`);
  await writeFile(join(folder, 'ini'), `[databases]\n${server}\n[pgbouncer]\n${lines.join('\n')}\n`);
  await chmod(folder, 0o755);
  const child = spawn(program.command, [join(folder, 'ini')], {
    cwd: folder,
    env: { ...programEnv, ...program.env },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...POSTGRES_USER,
  });
  let log = '';
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      log += error.message;
      resolve();
    });
  });
  const up = new Promise<boolean>((resolve) => {
    child.stderr.on('data', (chunk) => {
      log = (log + chunk).slice(-2_000);
      if (log.includes(LISTENING)) resolve(true);
    });
  });
  const reaper = reapWithUs('kill -9 "$1"; rm -rf "$2"', [String(child.pid), folder]);
  const stop = async () => {
    child.ref();
    child.kill('SIGKILL');
    await ended;
    reaper.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  };
  const started = await within(Promise.race([up, ended]), () => `pgbouncer starts: ${log}`);
  if (started !== true) {
    await stop();
    throw new Error(`pgbouncer did not start:\n${log}`);
  }
  letTheTestProcessEnd(child);
  const url = new URL(postgresUrl);
  url.port = String(port);
  return { url: url.href, port, stop };
}

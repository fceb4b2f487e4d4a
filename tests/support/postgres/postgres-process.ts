import { spawn } from 'node:child_process';
import { letTheTestProcessEnd, reapWithUs } from '../child.ts';
import { programEnv } from '../program-env.ts';
import { within } from '../within.ts';
import type { PostgresBinaries } from './binaries.ts';
import { childrenOf } from './children.ts';
import { POSTGRES_USER } from './user.ts';

export interface PostgresProcess {
  readonly pid: number;
  /** The last 20,000 characters that it wrote. */
  log(): string;
  /** Resolves when the process has ended. */
  end(): Promise<void>;
  /** Sends a signal to the first process of the server; does nothing after it has ended. */
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal to all processes of the server. */
  signalAll(signal: NodeJS.Signals): Promise<void>;
}

const READY = 'ready to accept';
const READY_MS = 30_000;
/** The server ends its other processes itself, if it is not killed. */
const REAP = 'kill -QUIT "$1"; kill -CONT "$1"; while kill -0 "$1"; do sleep 0.1; done; rm -rf "$2"';

/**
 * Starts one server, and returns when it accepts connections.
 * @param folder goes with the server if this process ends before it
 * @throws Error with the server's log if it does not start
 */
export async function launch(
  { postgres, env }: PostgresBinaries,
  args: readonly string[],
  folder: string,
): Promise<PostgresProcess> {
  const child = spawn(postgres, args, {
    cwd: folder,
    env: { ...programEnv, ...env, TZ: 'UTC' },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...POSTGRES_USER,
  });
  let log = '';
  let exited = false;
  const reaper = child.pid === undefined ? undefined : reapWithUs(REAP, [String(child.pid), folder]);
  const ended = new Promise<void>((resolve) => {
    const done = () => {
      exited = true;
      reaper?.kill('SIGKILL');
      resolve();
    };
    child.once('exit', done);
    child.once('error', (error) => {
      log += error.message;
      done();
    });
  });
  const ready = new Promise<void>((resolve) => {
    child.stderr.on('data', (chunk) => {
      log = (log + chunk).slice(-20_000);
      if (log.includes(READY)) resolve();
    });
  });
  const running: PostgresProcess = {
    pid: child.pid!,
    log: () => log,
    end() {
      if (!exited) child.ref();
      return ended;
    },
    signal(signal) {
      if (!exited) child.kill(signal);
    },
    async signalAll(signal) {
      if (exited) return;
      child.kill(signal); // first, so that it starts no more processes
      for (const pid of await childrenOf(child.pid!)) kill(pid, signal);
    },
  };
  try {
    await within(Promise.race([ready, ended]), 'Postgres accepts connections', READY_MS);
    if (exited) throw new Error('Postgres ended');
  } catch (cause) {
    running.signal('SIGQUIT');
    throw new Error(`Postgres did not start:\n${log}`, { cause });
  }
  letTheTestProcessEnd(child);
  return running;
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it has ended meanwhile
  }
}

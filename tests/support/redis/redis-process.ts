import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { letTheTestProcessEnd, reapWithUs } from '../child.ts';
import { run } from '../run.ts';
import { connects } from './free-port.ts';
import type { RedisBinary } from './redis-binary.ts';

export interface RedisProcess {
  readonly pid: number;
  /** Resolves when the process has ended. */
  end(): Promise<void>;
  /** Sends a signal; does nothing after the process has ended. */
  signal(signal: NodeJS.Signals): Promise<void>;
}

const READY_MS = 20_000;

/** Starts one server process, and returns when it answers; with `'loading'`, also with LOADING. */
export async function launch(
  binary: RedisBinary,
  args: readonly string[],
  port: number,
  folder: string,
  until: 'ready' | 'loading' = 'ready',
): Promise<RedisProcess> {
  const container = binary.image === undefined ? undefined : `sluice-test-${randomUUID()}`;
  const before =
    container === undefined
      ? []
      : ['run', '--rm', '--name', container, '-p', `127.0.0.1:${port}:${port}`, binary.image!];
  const child = spawn(binary.command, [...before, ...args], {
    env: { ...process.env, ...binary.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  const collect = (chunk: Buffer) => {
    log = (log + chunk).slice(-2_000);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);

  let exited = false;
  const ends = container === undefined ? 'kill -9 "$1"' : 'docker rm -f "$3"';
  const reaper =
    child.pid === undefined
      ? undefined
      : reapWithUs(`${ends} >/dev/null 2>&1; rm -rf "$2"`, [String(child.pid), folder, container ?? '']);
  const ended = new Promise<void>((resolve) => {
    const done = () => {
      exited = true;
      reaper?.kill('SIGKILL');
      resolve();
    };
    child.once('exit', done);
    child.once('error', done);
  });

  const deadline = Date.now() + READY_MS;
  while (!(await connects(port, until)) || exited) {
    if (exited || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`Redis did not start on port ${port}:\n${log}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  letTheTestProcessEnd(child);
  return {
    pid: child.pid!,
    end() {
      if (!exited) child.ref();
      return ended;
    },
    async signal(signal) {
      if (exited) return;
      if (container === undefined) child.kill(signal);
      else await run('docker', ['kill', '--signal', signal, container]);
    },
  };
}

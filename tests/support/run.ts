import { spawn } from 'node:child_process';
import { programEnv } from './program-env.ts';

export interface Finished {
  readonly ok: boolean;
  /** stdout and stderr together. */
  readonly output: string;
}

/** Runs a program to its end. Never throws: a missing program is a failure like any other. */
export function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; timeoutMs?: number; uid?: number; gid?: number } = {},
): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      uid: options.uid,
      gid: options.gid,
      env: { ...programEnv, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    // Not spawn's own timeout, whose timer outlives a program that does not exist.
    const { timeoutMs = 120_000 } = options;
    const timer = setTimeout(() => {
      output += `\nkilled: it did not end within ${timeoutMs / 1000} s`;
      child.kill('SIGKILL');
    }, timeoutMs);
    const finish = (finished: Finished) => {
      clearTimeout(timer);
      resolve(finished);
    };
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('error', (error) => finish({ ok: false, output: error.message }));
    child.once('close', (code) => finish({ ok: code === 0, output }));
  });
}

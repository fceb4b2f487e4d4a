import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundle } from '../../support/bundle.js';
import { programEnv } from '../../support/program-env.js';
import type { Moment } from './dying-program.js';
import { closeLater } from './servers.js';

/** A process that takes permits of `limits`, key `k`, until it dies. */
export interface Dying {
  readonly child: ChildProcess;
  /** Its answers so far. */
  readonly answers: readonly string[];
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>;
}

export interface Death {
  readonly moment: Moment;
  /** `SIGSTOP` freezes it. */
  readonly signal: 'SIGKILL' | 'SIGSTOP';
  /** The number of the turn. */
  readonly turn: number;
  readonly limit: number;
  /** Of its calls, ms. */
  readonly deadline: number;
}

let built: ReturnType<typeof bundle> | undefined;
afterAll(async () => {
  await (await built)?.remove();
});

/** Starts a process that dies in one of its turns. */
export async function startDying(url: string, death: Death): Promise<Dying> {
  built ??= bundle(join(__dirname, 'dying-program.ts'), { withPackages: true });
  const { file } = await built;
  const { moment, signal, turn, limit, deadline } = death;
  const args = [url, moment, signal, turn, limit, deadline].map(String);
  const child = spawn(process.execPath, [file, ...args], {
    env: programEnv,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  closeLater(() => child.kill('SIGKILL'));
  const answers: string[] = [];
  createInterface(child.stdout).on('line', (line) => answers.push(line));
  return { child, answers, ended: new Promise((resolve) => child.once('close', resolve)) };
}

import { spawn } from 'node:child_process';
import { programEnv } from './program-env.ts';
import { within } from './within.ts';

/** A program on its own terminal, created by `script` of util-linux. */
export interface Terminal {
  /** The program's output so far. */
  readonly text: string;
  /** Types. `'\u0003'` is Ctrl-C. */
  type(keys: string): void;
  /** @returns the exit code */
  readonly ended: Promise<number | null>;
}

/** @param command a command of `sh` */
export function onTerminal(
  command: string,
  columns: number,
  rows: number,
  env: Readonly<Record<string, string>> = {},
): Terminal {
  const { NO_COLOR: _, ...own } = programEnv;
  const script = `stty columns ${columns} rows ${rows}; ${command}`;
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', script, '/dev/null'], {
    // `script` gives the command to $SHELL, which differs between machines.
    env: { ...own, SHELL: '/bin/sh', TERM: 'xterm-256color', ...env },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      text += chunk;
    });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`script (util-linux) is needed: ${error.message}`)));
    child.once('close', resolve);
  });
  return {
    get text() {
      return text;
    },
    type: (keys) => void child.stdin.write(keys),
    get ended() {
      return within(closed, () => `the program on the terminal ends; it wrote: ${text}`);
    },
  };
}

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { programEnv } from '../../support/program-env.js';

/** The output of a run of `sluice`. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of `--json`. */
  readonly values: () => unknown[];
}

let built: ReturnType<typeof bundle> | undefined;

/** The command from the sources of all packages, made once for a test file. */
export const program = () => {
  built ??= bundle(resolve(__dirname, '../../../packages/cli/src/bin.ts'), { withPackages: true });
  return built;
};

afterAll(async () => {
  await (await built)?.remove();
  built = undefined;
});

type Env = Readonly<Record<string, string>>;

export async function start(args: readonly string[], env: Env = {}): Promise<ChildProcessWithoutNullStreams> {
  const { file } = await program();
  return spawn(process.execPath, [file, ...args], { env: { ...programEnv, TZ: 'UTC', ...env } });
}

/** Runs `sluice` to its end. */
export async function sluice(args: readonly string[], env: Env = {}, input?: string): Promise<Ran> {
  const child = await start(args, env);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin.end(input);
  const code = await new Promise<number | null>((ended) => child.once('close', ended));
  const values = () =>
    stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as unknown);
  return { code, stdout, stderr, values };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { programEnv } from '../../support/program-env.js';

export const EXAMPLES = resolve(__dirname, '../../../examples');

/** An example as users run it: each start is a process. */
export class Example {
  readonly #running: ChildProcess[] = [];
  #bundled: ReturnType<typeof bundle> | undefined;

  constructor(readonly name: string) {}

  /** Starts it on a free port; resolves to its address. */
  async start(env: Record<string, string> = {}): Promise<string> {
    const child = await this.launch({ PORT: '0', METRICS_PORT: '0', DEADLINE: '10s', ...env });
    let text = '';
    for await (const chunk of child.stdout!) {
      text += chunk;
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
      if (url !== undefined) return url;
    }
    throw new Error(`${this.name} ended: ${text}`);
  }

  /** Its output and its exit code, when it ends by itself. */
  async ended(env: Record<string, string>): Promise<{ code: number | null; said: string }> {
    const child = await this.launch(env);
    let said = '';
    child.stderr!.on('data', (chunk) => {
      said += chunk;
    });
    const [code] = await once(child, 'close');
    return { code, said };
  }

  /** Sends SIGTERM to all, as a deploy does; resolves to their exit codes. */
  async stop(): Promise<(number | null)[]> {
    const children = this.#running.splice(0);
    for (const child of children) child.kill('SIGTERM');
    return Promise.all(
      children.map(async (child) => {
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
        return child.exitCode;
      }),
    );
  }

  async remove(): Promise<void> {
    await this.stop();
    await (await this.#bundled)?.remove();
  }

  private async launch(env: Record<string, string>): Promise<ChildProcess> {
    this.#bundled ??= bundle(join(EXAMPLES, this.name, 'src/main.ts'), { withPackages: true }); // drivers of databases
    const { file } = await this.#bundled;
    const child = spawn(process.execPath, [file], {
      cwd: join(EXAMPLES, this.name), // where npm starts it
      env: { ...programEnv, ...env },
    });
    this.#running.push(child);
    return child;
  }
}

import { once } from 'node:events';
import { eventually } from '../../support/eventually.js';
import { start } from './sluice.js';

/** A `sluice tail` that runs. */
export async function tailing(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = await start(['tail', ...args], env);
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    said.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said.stderr += chunk;
  });
  const ended = once(child, 'close');
  return {
    said,
    lines: () => said.stdout.split('\n').filter(Boolean),
    /** Waits for its own end, or ends it. */
    async end(signal?: NodeJS.Signals): Promise<[code: number | null, signal: string | null]> {
      if (signal !== undefined) child.kill(signal);
      return (await ended) as [number | null, string | null];
    },
    /** Calls again and again until it has written. */
    until: (call: () => Promise<unknown>, written = () => said.stdout !== '') =>
      eventually(async () => {
        await call();
        return written();
      }),
  };
}

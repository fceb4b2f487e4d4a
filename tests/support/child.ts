import { type ChildProcess, spawn } from 'node:child_process';

/**
 * A shell that runs `script` when its own input ends, which happens when this process ends in any way, even by kill -9. It has its own
 * session, so that Ctrl-C does not end it first.
 * @param args `$1`, `$2` and so on of the script
 */
export function reapWithUs(script: string, args: readonly string[]): ChildProcess {
  const reaper = spawn('sh', ['-c', `cat >/dev/null; ${script}`, 'sh', ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  reaper.once('error', () => undefined);
  letTheTestProcessEnd(reaper);
  return reaper;
}

/** Without this, a test that forgets to stop its server would keep Jest from ending. */
export function letTheTestProcessEnd(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    (stream as { unref?: () => void } | null)?.unref?.();
  }
}

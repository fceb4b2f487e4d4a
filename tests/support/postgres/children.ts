import { readdirSync, readFileSync } from 'node:fs';
import { run } from '../run.ts';

/** The processes that a process has started itself, and that still run. */
export async function childrenOf(parent: number): Promise<number[]> {
  if (process.platform === 'linux') {
    const all = readdirSync('/proc').map(Number).filter(Number.isInteger);
    return all.filter((pid) => parentOf(pid) === parent);
  }
  const { output } = await run('pgrep', ['-P', String(parent)]);
  return output.split('\n').filter(Boolean).map(Number);
}

/** Slim images of Linux have no `pgrep`. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined; // it has ended meanwhile
  }
}

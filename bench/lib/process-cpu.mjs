import { readdirSync, readFileSync } from 'node:fs';

/** µs of CPU that a process and its children have used, also those that have ended. 0 where it cannot be read: elsewhere than on Linux. */
export function cpuOfTree(pid) {
  let ticks = 0;
  for (const name of entriesOfProc()) {
    const fields = statOf(name);
    if (fields === undefined || (Number(name) !== pid && Number(fields[1]) !== pid)) continue;
    const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number);
    ticks += user + system + (Number(name) === pid ? childrenUser + childrenSystem : 0);
  }
  return ticks * 10_000;
}

function entriesOfProc() {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** The fields after the name of the program, which may contain spaces. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined; // it has ended
  }
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = readFileSync(join(__dirname, '../../../docs/operations.md'), 'utf8');

function found(pattern: RegExp): string[] {
  const line = pattern.exec(page)?.[1];
  if (line === undefined) throw new Error(`docs/operations.md has no ${pattern}`);
  return line.split(' ');
}

/** The rules of the user in `docs/operations.md`: patterns and commands. */
export const RULES = found(/^user sluice on >\S+ (.*)$/m);
/** Rules that a Cluster client also needs. */
export const CLUSTER_RULES = found(/`(\+cluster\|slots .*?)`/);
/** Rules of `RULES` without which every operation still works, with less service. */
export const DISPENSABLE = found(/`(\+unsubscribe .*?)`/);

export const CREDENTIALS = { username: 'sluice', password: 'a long secret' };

type Ask = (command: string, ...args: string[]) => Promise<unknown>;

/** Creates the user again, with these rules, and with the one that only newer servers know. */
export async function setUser(ask: Ask, rules: readonly string[]): Promise<void> {
  const [known] = (await ask('COMMAND', 'INFO', 'msetex')) as unknown[];
  const newer = Array.isArray(known) && known.length > 0 ? ['+msetex'] : [];
  const { username, password } = CREDENTIALS;
  await ask('ACL', 'SETUSER', username, 'reset', 'on', `>${password}`, ...rules, ...newer);
}

/**
 * The commands that the server has refused since the last call, also those whose errors the client ignores. Without the client's name
 * and version, which ioredis always sends and Redis before 7.2 does not know.
 */
export async function refusals(ask: Ask): Promise<unknown[]> {
  const entries = (await ask('ACL', 'LOG')) as unknown[][];
  await ask('ACL', 'LOG', 'RESET');
  const objects = entries.map((entry) => entry[entry.indexOf('object') + 1]);
  return objects.filter((object) => object !== 'client|setinfo');
}

/** The address of a server for that user. */
export function asUser(url: string): string {
  const { username, password } = CREDENTIALS;
  return url.replace('redis://', `redis://${username}:${encodeURIComponent(password)}@`);
}

/** A read that the server refused. */
export interface Refusal {
  /** The command, with its subcommand: `CONFIG GET`. */
  readonly command: string;
  /** The subject of the read: `appendfsync`. */
  readonly about: string;
  /** `permission`: the user lacks a right; `not-offered`: the server has no such command. */
  readonly kind: 'permission' | 'not-offered';
}

const PERMISSION = /^(?:NOPERM\b|-?ERR .*(?:no permissions? |not permitted|permission denied))/i;
const NOT_OFFERED =
  /unknown (?:sub)?command|^ERR (?:unknown|unsupported)|not supported|not allowed|is disabled|not available/i;

/** @returns undefined for any other error */
export function refusalKind(error: unknown): Refusal['kind'] | undefined {
  const text = messageOf(error);
  if (PERMISSION.test(text)) return 'permission';
  return NOT_OFFERED.test(text) ? 'not-offered' : undefined;
}

export const messageOf = (error: unknown): string =>
  (error as Partial<Error> | undefined)?.message || String(error);

const CONTAINERS = ['ACL', 'CLUSTER', 'COMMAND', 'CONFIG', 'SCRIPT', 'SENTINEL'];

/** The command without its arguments: `CONFIG GET` of `CONFIG GET save`. */
export const commandOf = ([command = '', subcommand]: readonly (string | number)[]): string =>
  CONTAINERS.includes(String(command)) ? `${command} ${subcommand}` : String(command);

/** The rule of an ACL that grants a command: `+config|get`. */
export const ruleOf = (command: string): string => `+${command.toLowerCase().replace(' ', '|')}`;

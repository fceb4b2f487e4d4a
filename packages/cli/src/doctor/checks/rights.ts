import { nodeCheck } from '../check.js';
import type { DoctorNode } from '../node.js';
import { messageOf } from '../refusal.js';
import { IN_NEWER, ON_CHANNEL, SENT_COMMANDS, type SentCommand } from '../sent-commands.js';

/** Checks that the user can run every command of the limiters. Uses `ACL DRYRUN`, which does not run them. */
export const rights = nodeCheck({
  about: 'rights',
  why: {
    'right-missing': 'The server refuses the calls that need it (NOPERM): their failurePolicy decides.',
    'right-advised': 'Every decision is made, at a price.',
    'rights-unknown': 'A missing right is then found by the first call that needs it.',
    'user-unknown': 'The sign-in of such a user fails.',
  },
  async look(node, report, { prefix, user: wanted }, { user: own, kind }) {
    const user = wanted ?? own;
    const commands = SENT_COMMANDS.filter(({ inCluster }) => !inCluster || kind === 'cluster');
    const missing: SentCommand[] = [];
    for (const command of [...commands, IN_NEWER, ON_CHANNEL]) {
      const refusal = await dryRun(node, user, command.args(prefix));
      if (refusal === 'unknown')
        return report.note(
          'rights-unknown',
          `ACL DRYRUN is refused, so the rights of '${user}' could not be checked`,
          'Run sluice doctor as another user with --acl-user, on Redis 7.0 or later.',
        );
      if (refusal === 'no such user')
        return report.error(
          'user-unknown',
          `There is no user '${user}'`,
          'docs/operations.md has the line that creates it.',
        );
      if (refusal !== undefined) missing.push(command);
    }
    const needed = missing.filter(({ without }) => without === undefined);
    const rules = (of: readonly SentCommand[]) => of.map(({ rule }) => rule).join(' ');
    if (needed.length > 0)
      report.error(
        'right-missing',
        `The user '${user}' may not run ${rules(needed)} on keys and channels of ${prefix}:`,
        `ACL SETUSER ${user} ~${prefix}:* &${prefix}:* ${rules(missing)}`,
      );
    else if (missing.length > 0)
      report.note(
        'right-advised',
        `The user '${user}' lacks ${rules(missing)}: ${[...new Set(missing.map(({ without }) => without))].join('; ')}`,
        `ACL SETUSER ${user} ~sluice:v2:fleet:* ${rules(missing)}`,
      );
    else report.ok(`'${user}' may run all ${commands.length} commands`);
  },
});

/** @returns undefined if the user has the right, otherwise the reason; `unknown` if the server cannot check it */
async function dryRun(
  node: DoctorNode,
  user: string,
  command: readonly string[],
): Promise<string | undefined> {
  try {
    const reply = await node.ask(`the rights of '${user}'`, 'ACL', 'DRYRUN', user, ...command);
    if (reply === undefined) return 'unknown';
    return reply === 'OK' ? undefined : String(reply);
  } catch (error) {
    if (/Command '.*' not found/.test(messageOf(error))) return undefined; // `commands` reports it, or the server is older
    if (/User '.*' not found/.test(messageOf(error))) return 'no such user';
    throw error;
  }
}

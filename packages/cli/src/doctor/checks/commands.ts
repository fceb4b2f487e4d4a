import { nodeCheck } from '../check.js';
import { SENT_COMMANDS } from '../sent-commands.js';

/** Finds commands that the server lacks or has renamed. */
export const commands = nodeCheck({
  about: 'commands',
  why: {
    'command-missing': 'Calls reject with StoreConfigurationError, or are decided by the failurePolicy.',
  },
  of: 'primaries',
  async look(node, report, _settings, { kind }) {
    const names = SENT_COMMANDS.filter(({ inCluster }) => !inCluster || kind === 'cluster').map(({ rule }) =>
      rule.slice(1).replace(/\|.*/, ''),
    );
    const reply = await node.ask('which commands there are', 'COMMAND', 'INFO', ...names);
    if (!Array.isArray(reply)) return;
    const missing = names.filter((_, i) => !Array.isArray(reply[i]) || reply[i].length === 0);
    if (missing.length === 0) report.ok(`the server has all ${names.length} commands`);
    else
      report.error(
        'command-missing',
        `The server has no ${missing.join(', ').toUpperCase()}`,
        'Remove rename-command from redis.conf; a service that has no scripts cannot hold limits.',
      );
  },
});

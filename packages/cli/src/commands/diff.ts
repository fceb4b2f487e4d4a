import type { CommandDefinition } from '../command.js';
import { goodFile, numberOf, pushedRules, showDifferences } from '../pushed-rules.js';

export const diff: CommandDefinition = {
  name: 'diff',
  arguments: [['<file>', 'a file of rules; - for the input']],
  options: [],
  summary: 'what a file of rules would change in the store',
  description:
    'Compares a file of rules with the latest version in the store: by rule and limit, in words. Checks the file and runs its tests before. ' +
    'Exits with 1 if something differs, and with 2 if the file has problems or the text in the store is gone.',
  example: [
    'diff limits.yaml',
    '~ api, perMinute: 100 per 1 min (fixedWindow) → 200 per 1 min (fixedWindow)',
  ],
  writes: false,
  async run(context, [file = '']) {
    const { output } = context;
    const next = await goodFile(file, context, 2);
    const pushed = await pushedRules(context, next.set.name);
    const [latest] = pushed.versions;
    if (latest === undefined) output.say(`Nothing was pushed for the rules '${next.set.name}' yet.`);
    else output.say(`Compared with ${numberOf(latest)} in the store:`);
    const found = showDifferences(context, pushed, next);
    output.json({ rules: next.set.name, latest: latest?.number, differences: found });
    if (found === undefined) return 2;
    return found.length === 0 ? 0 : 1;
  },
};

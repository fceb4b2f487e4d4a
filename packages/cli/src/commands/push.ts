import { confirmed } from '../change.js';
import type { CommandDefinition } from '../command.js';
import { goodFile, numberOf, pushedRules, showDifferences } from '../pushed-rules.js';

export const push: CommandDefinition = {
  name: 'push',
  arguments: [['<file>', 'a file of rules; - for the input, with --yes']],
  options: [
    { flags: '--by <who>', description: 'who pushes; default: user and host' },
    { flags: '--yes', description: 'do not ask' },
  ],
  summary: 'put a file of rules into the store, for all processes',
  description:
    'Checks a file of rules, runs its tests, shows what it changes, asks, and makes it the latest version in the store, which processes with ' +
    'loadRules(storedRules(store)) load at once. If another version was pushed meanwhile, nothing is changed. Exits with 1 if nothing ' +
    'was changed, with 0 also if the store has this text already.',
  example: ['push limits.yaml', 'Shows the differences, asks, and pushes.'],
  writes: true,
  async run(context, [file = ''], { by, yes }) {
    const { output, ask } = context;
    const next = await goodFile(file, context, 1);
    const { name, document } = next.set;
    const pushed = await pushedRules(context, name);
    const [latest] = pushed.versions;
    if (latest !== undefined && pushed.text === next.text) {
      output.say(`The store has this text already: ${numberOf(latest)} of the rules '${name}'.`);
      output.json({ rules: name, done: false, latest });
      return 0;
    }
    showDifferences(context, pushed, next);
    const { percent = 100 } = document.rollout ?? {};
    const whom = percent < 100 ? ` for ${percent} % of the keys` : '';
    const instead = latest === undefined ? '' : `, after ${numberOf(latest)}`;
    if (
      yes !== true &&
      !(await confirmed(context, `Push ${file} as the rules '${name}'${whom}${instead}?`))
    ) {
      output.say('Nothing was changed.');
      return 1;
    }
    const replaces = latest?.number ?? 0;
    const who = typeof by === 'string' ? { by } : {};
    const version = await ask(pushed.source.push(next.text, { replaces, ...who }));
    output.json({ rules: name, done: true, latest: version });
    output.say(output.style('green', `Pushed as ${numberOf(version)}. Who runs it: sluice rules ${name}`));
    return 0;
  },
};

import { confirmed } from '../change.js';
import { CliError } from '../cli-error.js';
import type { CommandDefinition } from '../command.js';
import { isIn, numberOf, parsed, pushedRules, showDifferences } from '../pushed-rules.js';

export const rollback: CommandDefinition = {
  name: 'rollback',
  arguments: [['[number]', 'the number of an earlier version, as in sluice rules; default: the one before']],
  options: [
    { flags: '--rules <name>', description: 'the name of the document', default: 'rules' },
    { flags: '--by <who>', description: 'who pushes; default: user and host' },
    { flags: '--yes', description: 'do not ask' },
  ],
  summary: 'push an earlier version of the rules again',
  description:
    'Makes an earlier version of the rules the latest one again. During a roll-out, and when it is complete, that is by default the ' +
    'version from before it. Shows what changes, and asks. Exits with 1 if nothing was changed.',
  example: ['rollback', 'Shows what changes back, asks, and pushes the version before.'],
  writes: true,
  async run(context, [wanted], { rules: name, by, yes }) {
    const { output, ask } = context;
    const pushed = await pushedRules(context, String(name));
    const [latest] = pushed.versions;
    const to = wanted === undefined ? pushed.source.rollbackTarget(pushed.versions) : Number(wanted);
    const target = pushed.versions.find(({ number }) => number === to);
    if (latest === undefined || target === undefined) {
      const kept = pushed.versions.map(({ number }) => number).join(', ');
      throw new CliError(
        `There is no ${wanted === undefined ? 'earlier version' : `version ${wanted}`} of the rules '${name}'.`,
        kept === ''
          ? 'Push one: sluice push FILE. A document of another name: --rules NAME.'
          : `There are: ${kept}. See sluice rules ${name}`,
        1,
      );
    }
    if (!isIn(pushed.kept, target)) {
      const others = pushed.kept.filter(({ number }) => number !== latest.number).map(({ number }) => number);
      throw new CliError(
        `The text of ${numberOf(target)} is gone: Redis has evicted it, or it was deleted.`,
        others.length === 0
          ? 'No earlier text is there. Push one: sluice push FILE.'
          : `Still there: ${others.join(', ')}. Give one: sluice rollback ${others[0]} --rules ${name}`,
        1,
      );
    }
    const text = await ask(pushed.source.text(target.number));
    const set = await parsed(text);
    if (set === undefined)
      throw new CliError(`${numberOf(target)} is not acceptable to this version of sluice.`, undefined, 1);
    showDifferences(context, pushed, { text, set });
    const question = `Replace ${numberOf(latest)} of the rules '${name}' by ${numberOf(target)}?`;
    if (yes !== true && !(await confirmed(context, question))) {
      output.say('Nothing was changed.');
      return 1;
    }
    const who = typeof by === 'string' ? { by } : {};
    const version = await ask(pushed.source.rollback(target.number, { replaces: latest.number, ...who }));
    output.json({ rules: name, done: true, latest: version });
    output.say(output.style('green', `Pushed as ${numberOf(version)}.`));
    return 0;
  },
};

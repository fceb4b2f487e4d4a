import { lengthText } from '@sluice/fleet';
import type { CommandDefinition } from '../command.js';
import { fleetOf } from '../fleet.js';
import { isIn, pushedRules } from '../pushed-rules.js';
import { processText } from '../text.js';
import { timeOf } from '../words.js';

export const rules: CommandDefinition = {
  name: 'rules',
  arguments: [['[name]', 'the name of the document; default: rules']],
  options: [],
  summary: 'list the versions of rules, and which processes run them',
  description:
    'Lists the versions of rules that were pushed, the latest first, and what each process has in force. Exits with 1 if nothing was ' +
    'pushed and no process has rules of this name.',
  example: [
    'rules',
    'NUMBER  VERSION  PUSHED    BY       NOTE\n  2       42       14:03:05  ann@web  rollback to 1',
  ],
  writes: false,
  async run(context, [name = 'rules']) {
    const { output } = context;
    const { versions, kept } = await pushedRules(context, name);
    const now = Date.now() * 1_000;
    const rows = versions.map(({ number, version = '', at, by, rollbackTo, percent, before, id }) => [
      String(number),
      String(version),
      timeOf(at * 1_000, now),
      by,
      [
        rollbackTo !== undefined && `rollback to ${rollbackTo}`,
        percent !== undefined && `for ${percent} % of the keys, the others keep ${before}`,
        !isIn(kept, { id }) && 'its text is gone',
      ]
        .filter(Boolean)
        .join('; '),
    ]);
    for (const version of versions) output.json({ rules: name, ...version, kept: isIn(kept, version) });
    if (rows.length > 0) output.table(['NUMBER', 'VERSION', 'PUSHED', 'BY', 'NOTE'], rows);
    const { processes } = await fleetOf(context);
    const running = processes.flatMap(({ process, host, pid, age, rules = [] }) =>
      rules.filter((one) => one.name === name).map((one) => ({ process, host, pid, age, ...one })),
    );
    for (const one of running) output.json(one);
    const lines = running.map(({ version = '', source, problem = '', age, ...process }) => [
      processText(process),
      String(version),
      source,
      `${lengthText(age)} ago`,
      problem,
    ]);
    if (lines.length > 0) {
      if (rows.length > 0) output.line();
      output.table(['PROCESS', 'VERSION', 'SOURCE', 'SEEN', 'PROBLEM'], lines);
    }
    if (rows.length + lines.length > 0) return 0;
    const others = new Set(processes.flatMap((one) => (one.rules ?? []).map((known) => `'${known.name}'`)));
    output.say(
      `Nothing was pushed for the rules '${name}', and no process has them.` +
        (others.size > 0 ? ` Processes have ${[...others].sort().join(', ')}.` : ''),
    );
    return 1;
  },
};

import { lengthText } from '@sluice/core/operations';
import type { CommandDefinition } from '../command.js';
import { fleetOf } from '../fleet.js';
import { pushedRules } from '../pushed-rules.js';
import { shown, shownProcess, table } from '../text.js';
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
    const { versions } = await pushedRules(context, name);
    const now = Date.now() * 1_000;
    const rows = versions.map(({ number, version = '', at, by, rollbackTo, percent, before }) => [
      String(number),
      shown(String(version)),
      timeOf(at * 1_000, now),
      shown(by),
      [
        rollbackTo !== undefined && `rollback to ${rollbackTo}`,
        percent !== undefined && `for ${percent} % of the keys, the others keep ${before}`,
      ]
        .filter(Boolean)
        .join('; '),
    ]);
    for (const version of versions) output.json({ rules: name, ...version });
    if (rows.length > 0)
      output.line(table(['NUMBER', 'VERSION', 'PUSHED', 'BY', 'NOTE'], rows, output.width));
    const { processes } = await fleetOf(context);
    const running = processes.flatMap(({ process, host, pid, age, rules = [] }) =>
      rules.filter((one) => one.name === name).map((one) => ({ process, host, pid, age, ...one })),
    );
    for (const one of running) output.json(one);
    const lines = running.map(({ version = '', source, problem = '', age, ...process }) => [
      shownProcess(process),
      shown(String(version)),
      shown(source),
      `${lengthText(age)} ago`,
      shown(problem),
    ]);
    if (lines.length > 0) {
      if (rows.length > 0) output.line();
      output.line(table(['PROCESS', 'VERSION', 'SOURCE', 'SEEN', 'PROBLEM'], lines, output.width));
    }
    if (rows.length + lines.length > 0) return 0;
    const others = new Set(
      processes.flatMap((one) => (one.rules ?? []).map((known) => `'${shown(known.name)}'`)),
    );
    output.say(
      `Nothing was pushed for the rules '${shown(name)}', and no process has them.` +
        (others.size > 0 ? ` Processes have ${[...others].sort().join(', ')}.` : ''),
    );
    return 1;
  },
};

import { LAYOUT } from '@sluice/core/internal';
import { lengthText } from '@sluice/fleet';
import type { CommandDefinition } from '../command.js';
import {
  type Fleet,
  fleetOf,
  type KnownLimiter,
  NOBODY,
  newerLayout,
  ofNewerLayout,
  plansOf,
} from '../fleet.js';
import { processText } from '../text.js';
import { count, policyOf } from '../words.js';

export const ls: CommandDefinition = {
  name: 'ls',
  arguments: [],
  options: [{ flags: '--processes', description: 'list the processes instead' }],
  summary: 'list the limiters of all processes',
  description:
    'Lists the limiters that running processes have published, with their policies, what they count by, and how many processes ' +
    'have them. Exits with 1 if no process has published any.',
  example: [
    'ls',
    'LIMITER  POLICY                         KEY  PROCESSES\n  login    5 per 1 min (fixedWindow)      IP   3',
  ],
  writes: false,
  async run(context, _args, { processes: wantsProcesses }) {
    const { output } = context;
    const fleet = await fleetOf(context);
    const newer = await newerLayout(context);
    const processes = fleet.processes.map(
      ({ process, host, pid, version, layout, age, limiters, omitted }) => ({
        ...{ process, host, pid, version, layout, age },
        limiters: limiters.length + omitted,
      }),
    );
    if (wantsProcesses) {
      for (const process of processes) output.json(process);
      const rows = processes.map(({ version, limiters, age, ...process }) => [
        processText(process),
        version,
        String(limiters),
        `${lengthText(age)} ago`,
      ]);
      if (rows.length > 0) output.table(['PROCESS', 'VERSION', 'LIMITERS', 'SEEN'], rows);
    } else {
      for (const { definition, processes: of } of fleet.limiters)
        output.json({ ...definition, processes: of.map(({ process }) => process) });
      const rows = fleet.limiters.filter((known) => isNews(known, fleet)).flatMap(rowsOf);
      if (rows.length > 0) output.table(['LIMITER', 'POLICY', 'KEY', 'PROCESSES'], rows);
    }
    const omitted = fleet.processes.reduce((sum, process) => sum + process.omitted, 0);
    if (omitted > 0)
      output.say(`${count(omitted, 'limiter')} more are not listed: a process publishes at most 200.`);
    const foreign = newer ?? fleet.processes.find(({ layout }) => layout !== LAYOUT)?.layout;
    if (foreign !== undefined) output.say(output.style('yellow', ofNewerLayout(foreign)));
    if (fleet.processes.length > 0) return 0;
    output.say(`No process has published limiters. ${NOBODY}`);
    return 1;
  },
};

/** `plan free, others: pro, team`. */
const planWords = (plan: string, others: readonly string[]): string =>
  `plan ${plan}${others.length === 0 ? '' : `; others: ${others.join(', ')}`}`;

/** A combination of a single limiter, such as for a request that one rule matches, is redundant if that limiter is in the list. */
function isNews({ definition: { members } }: KnownLimiter, { limiters }: Fleet): boolean {
  const [member, another] = Object.values(members ?? {});
  return another !== undefined || !limiters.some(({ definition: { name } }) => name === member);
}

/** A line for each policy; the name only once. */
function rowsOf(known: KnownLimiter): string[][] {
  const { definition, processes } = known;
  const [plan, ...others] = plansOf(known);
  const { kind, name, policies, several, key = '', members, prefetch, escalate } = definition;
  const of = String(processes.length);
  const first = kind === 'factory' ? `${name} (and others of a factory)` : name;
  if (kind === 'shared') return [[first, 'a shared rate, kept in Redis', '', of]];
  if (kind === 'combined') return [[first, `together: ${Object.values(members ?? {}).join(' + ')}`, '', of]];
  const notes = [
    plan === undefined ? kind === 'per-request' && 'varies by request' : planWords(plan, others),
    prefetch && 'prefetched',
    escalate && 'escalates',
  ].filter(Boolean);
  const suffix = notes.length === 0 ? '' : `, ${notes.join(', ')}`;
  return Object.entries(policies).map(([policy, given], i) => {
    const text = `${several ? `${policy}: ` : ''}${policyOf(given)}${suffix}`;
    return i === 0 ? [first, text, key, of] : ['', text, '', ''];
  });
}

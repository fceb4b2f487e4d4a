import type { Policy } from '@sluice/core';
import { LAYOUT } from '@sluice/core/internal';
import { lengthText } from '@sluice/fleet';
import type { CommandDefinition } from '../command.js';
import {
  axesOf,
  fleetOf,
  isNews,
  type KnownLimiter,
  metersOf,
  NOBODY,
  newerLayout,
  ofNewerLayout,
  plansOf,
} from '../fleet.js';
import { METER_HEADS, meterRows } from '../meters.js';
import { processText } from '../text.js';
import { PAUSE_HEADS, pauseJson, pauseRows, upstreamsOf } from '../upstreams.js';
import { policyOf } from '../words.js';

export const ls: CommandDefinition = {
  name: 'ls',
  arguments: [],
  options: [{ flags: '--processes', description: 'list the processes instead' }],
  summary: 'list the limiters of all processes',
  description:
    'Lists the limiters that running processes have published, with their policies, what they count by, and how many processes ' +
    'have them; then the meters with their axes, and what is paused of their upstreams, until when and why. Exits with 1 if no process has published any.',
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
      const axes = axesOf(fleet);
      const rows = fleet.limiters
        .filter((known) => isNews(known, fleet) && !axes.has(known.definition.name))
        .flatMap(rowsOf);
      if (rows.length > 0) output.table(['LIMITER', 'POLICY', 'KEY', 'PROCESSES'], rows);
      const meters = metersOf(fleet).flatMap(meterRows);
      if (meters.length > 0) {
        if (rows.length > 0) output.line();
        output.table(METER_HEADS, meters);
      }
      const upstreams = await upstreamsOf(context, fleet);
      const pauses = upstreams.flatMap((upstream) => upstream.pauses);
      for (const pause of pauses) output.json(pauseJson(pause));
      if (pauses.length > 0) {
        output.line();
        output.table(PAUSE_HEADS, pauseRows(pauses));
      }
    }
    const omitted = fleet.processes.reduce((sum, process) => sum + process.omitted, 0);
    if (omitted > 0)
      output.say(
        `${omitted} more ${omitted === 1 ? 'limiter is' : 'limiters are'} not listed: a process publishes at most 200.`,
      );
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

/** A line for each policy; the name only once. */
function rowsOf(known: KnownLimiter): string[][] {
  const { key = '' } = known.definition;
  const { name, policies } = limiterWords(known, policyOf);
  return policies.map((text, i) =>
    i === 0 ? [name, text, key, String(known.processes.length)] : ['', text, '', ''],
  );
}

/** A limiter for people: its name, and a text for each policy. */
export function limiterWords(
  known: KnownLimiter,
  wordsOf: (policy: Policy) => string,
): { readonly name: string; readonly policies: readonly string[] } {
  const [plan, ...others] = plansOf(known);
  const { kind, name: given, policies, several, members, prefetch, escalate } = known.definition;
  const name = kind === 'factory' ? `${given} (and others of a factory)` : given;
  if (kind === 'shared') return { name, policies: ['a shared rate, kept in the store'] };
  if (kind === 'combined')
    return { name, policies: [`together: ${Object.values(members ?? {}).join(' + ')}`] };
  const notes = [
    plan === undefined ? kind === 'per-request' && 'varies by request' : planWords(plan, others),
    prefetch && 'prefetched',
    escalate && 'escalates',
  ].filter(Boolean);
  const suffix = notes.length === 0 ? '' : `, ${notes.join(', ')}`;
  const texts = Object.entries(policies).map(
    ([policy, own]) => `${several ? `${policy}: ` : ''}${wordsOf(own)}${suffix}`,
  );
  return { name, policies: texts };
}

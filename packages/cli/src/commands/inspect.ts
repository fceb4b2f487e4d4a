import { KEY } from '../change.js';
import { CliError } from '../cli-error.js';
import type { CommandDefinition } from '../command.js';
import {
  fleetOf,
  metersOf,
  NOBODY,
  named,
  newerLayout,
  notLookedAt,
  ofNewerLayout,
  plansOf,
  withKeys,
} from '../fleet.js';
import { linesOf, lookAt } from '../key-report.js';
import { inspectedMeters, metersNamed } from '../meters.js';
import { shownKey } from '../text.js';
import { policyOf } from '../words.js';

export const inspect: CommandDefinition = {
  name: 'inspect',
  arguments: [KEY],
  options: [
    { flags: '--limiter <name>', description: 'only this limiter' },
    { flags: '--all', description: 'also limiters that know nothing of the key' },
  ],
  summary: 'show all that is stored of a key',
  description:
    'Shows every limiter that knows a key: what it took, blocks, overrides, bookings, holders, and how long Redis keeps it; and of each ' +
    'meter what is spent, held and left. Asks one key for each policy and scans nothing. Exits with 1 if no limiter knows the key.',
  example: [
    'inspect 203.0.113.7',
    'login  5 per 1 min (fixedWindow)\n    5 of 5 used in the window that ends at 14:03:05, in 12 s.',
  ],
  writes: false,
  async run(context, [key = ''], { limiter: name, all }) {
    const { output } = context;
    const fleet = await fleetOf(context);
    const meters = typeof name === 'string' ? metersNamed(fleet, name) : metersOf(fleet);
    const isMeter = typeof name === 'string' && meters.length > 0;
    const limiters = isMeter ? [] : typeof name === 'string' ? named(fleet, name) : withKeys(fleet);
    const newer = await newerLayout(context);
    if (limiters.length === 0 && meters.length === 0)
      throw new CliError(
        newer === undefined ? 'No process has published limiters.' : ofNewerLayout(newer),
        NOBODY,
        1,
      );
    let known = 0;
    const reports = await Promise.all(limiters.map((limiter) => lookAt(context, limiter, key)));
    for (const { limiter, seen, problem } of reports) {
      const { name: of, kind, policies } = limiter.definition;
      if (seen?.known || problem !== undefined) known += 1;
      else if (!all) continue;
      output.json({ limiter: of, kind, key, problem, ...seen });
      if (seen === undefined) {
        output.line(output.style('bold', of));
        output.say(output.style('red', `It cannot be read: ${problem!}.`), '  ');
      }
      const [plan] = plansOf(limiter);
      const ofPlan = plan === undefined ? '' : `, plan ${plan}`;
      for (const policy of seen?.policies ?? []) {
        const label = policy.name === of ? of : `${of}, ${policy.name}`;
        output.say(
          `${output.style('bold', label)}  ${output.style('dim', policyOf(policies[policy.name]!) + ofPlan)}`,
        );
        for (const line of linesOf(policy, seen!.now)) output.say(line, '  ');
      }
    }
    known += await inspectedMeters(context, meters, key, all === true);
    if (newer !== undefined) output.say(output.style('yellow', ofNewerLayout(newer)));
    const left = typeof name === 'string' ? undefined : notLookedAt(limiters);
    if (left !== undefined) output.say(output.style('dim', left));
    if (known > 0) return 0;
    const many = limiters.length + (isMeter ? meters.length : 0);
    if (!all)
      output.say(
        `${many === 1 ? `The known ${isMeter ? 'meter' : 'limiter'} does not know` : `None of the ${many} known limiters knows`} the key '${shownKey(key)}': it took nothing that still counts.`,
      );
    return 1;
  },
};

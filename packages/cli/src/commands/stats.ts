import { toMicros } from '@sluice/core/internal';
import { lengthText } from '@sluice/fleet';
import type { CommandDefinition } from '../command.js';
import { keyUseRows, rateRows, usageOf } from '../usage.js';
import { count } from '../words.js';

export const stats: CommandDefinition = {
  name: 'stats',
  arguments: [],
  options: [{ flags: '--last <duration>', description: 'how far back: 10s to 15m', default: '1m' }],
  summary: 'show allowed and denied calls per second',
  description:
    'Shows the allowed and denied calls per second of each limiter, over all processes; those of a dry run or a candidate rule in rows marked ' +
    '(shadow). Needs processes with the option usage of their store. With usage: { keyUse: true } also the keys that each limit met in 10 to ' +
    '15 minutes, and quantiles of the share of the limit that a key used at most. Exits with 1 if there is none.',
  example: [
    'stats --last 5m',
    'LIMITER  ALLOWED/S  DENIED/S  DENIED  ERRORS/S\n  login    12.3       4.1       25 %    0',
  ],
  writes: false,
  async run(context, _args, { last }) {
    const { output } = context;
    const seconds = Math.min(890, toMicros('--last', String(last), 10_000_000) / 1_000_000);
    const usage = await usageOf(context);
    const { heads, rows, rates } = rateRows(usage, seconds);
    for (const one of rates) output.json(one);
    output.table(heads, rows);
    const use = keyUseRows(rates);
    if (use.rows.length > 0) {
      output.line();
      output.table(use.heads, use.rows);
    }
    const processes = count(usage.processes.length, 'process', 'processes');
    const counted = Math.min(seconds * 1_000, Math.max(1_000, ...usage.limiters.map(({ span }) => span)));
    output.say(output.style('dim', `In the last ${lengthText(counted)}, of ${processes}.`));
    return 0;
  },
};

import { lengthText } from '@sluice/fleet';
import { permitsOf } from '../arguments.js';
import { CliError, type ExitCode } from '../cli-error.js';
import type { CommandDefinition, Context } from '../command.js';
import { fleetOf, noteUnknown } from '../fleet.js';
import { PAUSE_HEADS, pauseJson, pauseRows, upstreamsOf } from '../upstreams.js';
import { spentRows, topRows, usageOf } from '../usage.js';

export const top: CommandDefinition = {
  name: 'top',
  arguments: [],
  options: [
    {
      flags: '--cost',
      description: 'keys that took the most permits, and that spent most of each axis of a meter',
    },
    {
      flags: '--shadow',
      description: 'keys that a dry run or a candidate rule would have denied most',
    },
    { flags: '--paused', description: 'what is paused longest of the upstreams of @sluice/outgoing' },
    {
      flags: '--limiter <name>',
      description: 'only this limiter, the limiters of this combination, or this meter',
    },
    { flags: '-n, --most <keys>', description: 'how many keys', default: '20' },
  ],
  summary: 'list the keys that are denied most',
  description:
    'Lists the keys that all processes denied most in the last 15 minutes, or that took the most permits, and the keys that spent most of each axis of a meter. Needs processes with the ' +
    'option usage of their store, except for --paused. A count such as 90–100 lies between the two. Exits with 1 if there is none.',
  example: ['top -n 3', 'LIMITER  KEY          DENIED\n  login    203.0.113.7  4711'],
  writes: false,
  async run(context, _args, options) {
    const { output } = context;
    const most = permitsOf('--most', options.most);
    const limiter = typeof options.limiter === 'string' ? options.limiter : undefined;
    const lists = ['cost', 'shadow', 'paused'].filter((one) => options[one] === true);
    if (lists.length > 1)
      throw new CliError(
        `Give one of ${lists.map((one) => `--${one}`).join(' and ')}, not both.`,
        'They are different lists of keys.',
      );
    if (options.paused === true) return listPauses(context, most, limiter);
    const usage = await usageOf(context);
    const list = options.cost === true ? 'costly' : options.shadow === true ? 'shadowDenied' : 'denied';
    const fleet = await fleetOf(context);
    const spent = list === 'costly' ? spentRows(usage, fleet, most, limiter) : NOTHING;
    const { heads, rows, found } = topRows(usage, fleet, list, most, limiter);
    for (const one of [...found, ...spent.found]) output.json(one);
    if (rows.length === 0 && spent.rows.length === 0) {
      output.say('No key is in the list.');
      if (limiter !== undefined) noteUnknown(context, fleet, limiter);
      return 1;
    }
    if (rows.length > 0) output.table(heads, rows);
    if (rows.length > 0 && spent.rows.length > 0) output.line();
    if (spent.rows.length > 0) output.table(spent.heads, spent.rows);
    const span = Math.max(...usage.limiters.map((one) => one.span));
    const hashed =
      usage.keys === 'hash'
        ? ' Keys are shown as digests: redisStore({ …, usage: { keys: "plain" } }) shows them.'
        : '';
    output.say(output.style('dim', `In the last ${lengthText(span)}.${hashed}`));
    return 0;
  },
};

const NOTHING: ReturnType<typeof spentRows> = { heads: [], rows: [], found: [] };

/** The pauses of all upstreams that end last. */
async function listPauses(context: Context, most: number, upstream: string | undefined): Promise<ExitCode> {
  const { output } = context;
  const pauses = (await upstreamsOf(context, await fleetOf(context)))
    .filter(({ name }) => upstream === undefined || name === upstream)
    .flatMap((one) => one.pauses)
    .sort((one, other) => other.until - one.until)
    .slice(0, most);
  for (const pause of pauses) output.json(pauseJson(pause));
  if (pauses.length > 0) output.table(PAUSE_HEADS, pauseRows(pauses));
  else output.say('No upstream is paused.');
  return pauses.length > 0 ? 0 : 1;
}

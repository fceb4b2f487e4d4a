import type { Carried, CarryTarget } from '@sluice/entries';
import { confirmed } from '../change.js';
import { CliError, cliErrorOf, type ExitCode } from '../cli-error.js';
import type { CommandDefinition, Context } from '../command.js';
import { askedOfOther, connected } from '../connected.js';
import { type Connection, entriesOf } from '../connection.js';
import { clockNote } from '../copy/clock-note.js';
import { isMissing } from '../database.js';
import { count } from '../words.js';

/** Entries between two lines of progress. */
const PROGRESS = 100_000;

type Options = Readonly<Record<string, string | boolean | undefined>>;

const addressOf = (given: string | boolean | undefined): string | undefined =>
  typeof given === 'string' ? given : undefined;

/** A store that is not made yet. */
const EMPTY: CarryTarget = { put: async (entries) => entries.length };

export const copy: CommandDefinition = {
  name: 'copy',
  arguments: [],
  options: [
    {
      flags: '--from <address>',
      description: 'a store, as --store takes it; default: the one of all commands',
    },
    {
      flags: '--to <address>',
      description: 'the same, for the other store; its file is made if there is none',
    },
    { flags: '--limiter <name>', description: 'only the keys of this limiter' },
    { flags: '--prefix <keyPrefix>', description: 'the keyPrefix of your limiters', default: 'sluice' },
    { flags: '--overwrite', description: 'also entries that the other store has' },
    { flags: '--dry-run', description: 'write nothing, and say what would be written' },
    { flags: '--yes', description: 'do not ask' },
  ],
  summary: 'carry all that is stored to another store',
  description:
    'Carries counts, bookings, holders, blocks, overrides, shared rates and rules from one store to another, each with the time that it has ' +
    'left. What the other store has stays, without --overwrite, so it can be run again. Exits with 1 if nothing was there, or nothing was ' +
    'changed.',
  example: [
    'copy --from sqlite:limits.db --to redis://db:6379',
    'Asks, and carries the entries of the file to that Redis.',
  ],
  writes: true,
  storeOf({ from, to }) {
    if (from !== undefined || to !== undefined) return { address: addressOf(from) };
    throw new CliError(
      'Which stores? Say from where and to where: --from sqlite:limits.db --to redis://127.0.0.1:6379.',
      'One of them may be the store of --store or REDIS_URL.',
    );
  },
  async run(context, _args, options) {
    const address = addressOf(options.to);
    // A dry run makes no file, and no table.
    if (options.dryRun === true && isMissing(address)) {
      context.output.say(`There is no file yet: ${address}.`);
      return carryTo(context, EMPTY, address!, options);
    }
    const to = await context.openOther(address, options.dryRun !== true);
    try {
      return await copyTo(context, to, options);
    } finally {
      await to.close();
    }
  },
};

async function copyTo(context: Context, to: Connection, options: Options): Promise<ExitCode> {
  const { address: source, output } = context;
  if (source === to.address)
    throw new CliError(`Both stores are ${source}.`, 'Give two with --from and --to.');
  const asks = options.dryRun !== true && options.yes !== true;
  if (asks && !(await confirmed(context, `Copy ${source} to ${to.address}?`))) {
    output.say('Nothing was changed.');
    return 1;
  }
  try {
    await connected(to);
  } catch (error) {
    if (options.dryRun !== true || !/there is no table/.test((error as Error).message))
      throw cliErrorOf(error, to.address);
    output.say(`There is no table yet: ${to.address}.`);
    return carryTo(context, EMPTY, to.address, options);
  }
  const note = await clockNote(context, to);
  if (note !== undefined) context.notes.say(note);
  const put: CarryTarget['put'] = (...given) => askedOfOther(to, entriesOf(to).put(...given));
  return carryTo(context, { put }, to.address, options);
}

async function carryTo(
  context: Context,
  to: CarryTarget,
  target: string,
  { dryRun = false, overwrite = false, prefix, limiter }: Options,
): Promise<ExitCode> {
  const { output, notes, signal, address: source } = context;
  let told = 0;
  const progress = ({ read }: Carried) => {
    if (read < told + PROGRESS) return;
    told = read;
    notes.say(`${read} entries so far.`);
  };
  const { carry } = await import('@sluice/entries'); // loaded here, so that other commands do not wait for it
  const carried = await carry(
    entriesOf(context),
    to,
    {
      prefix: String(prefix),
      limiter: addressOf(limiter),
      overwrites: overwrite === true,
      dryRun: dryRun === true,
      signal,
      ask: context.ask,
    },
    progress,
  );
  const { read, written, bytes } = carried;
  const complete = !signal.aborted;
  output.json({ from: source, to: target, ...carried, dryRun, complete });
  const done = dryRun ? 'would be written' : written === 1 ? 'was written' : 'were written';
  const stay = read === written ? '' : ` ${target} has the other ${read - written}, which stay.`;
  const text = `${count(read, 'entry', 'entries')}, ${Math.ceil(bytes / 1_000)} kB: ${written} ${done}.${stay}`;
  output.say(read === 0 && complete ? `${source} has nothing of these limiters.` : text);
  if (!complete) output.say('It was interrupted: run it again for the rest.');
  return complete ? (read === 0 ? 1 : 0) : 2;
}

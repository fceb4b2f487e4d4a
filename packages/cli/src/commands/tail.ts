import { encodeKey, hashStoredKey, isStoreRefusal, LONGEST_TIMER, toMicros } from '@sluice/core/internal';
import { type DenialReport, followDenials } from '@sluice/fleet';
import { permitsOf } from '../arguments.js';
import type { CommandDefinition, Context } from '../command.js';
import { denialJson, denialLine, omittedLine } from '../denial-line.js';
import { type Fleet, noteUnknown } from '../fleet.js';
import { type OwnedDenial, Owners } from '../owners.js';

type Option = string | boolean | undefined;

export const tail: CommandDefinition = {
  name: 'tail',
  arguments: [['[limiter]', 'only this limiter, or the limiters of this combination or meter']],
  options: [
    { flags: '--key <key>', description: 'only this key, as the limiter gets it' },
    { flags: '--for <duration>', description: 'end after this time' },
    { flags: '--count <lines>', description: 'end after this number of lines' },
  ],
  summary: 'show denied calls as they come',
  description:
    'Shows the denied calls of all processes as they come, until Ctrl-C. Equal denials of a process within half a second are one line. A ' +
    'process sends at most 100 lines each half second, and says how many it left out. Needs processes whose store has the option denials. ' +
    'Exits with 1 if --for ends without a denial.',
  example: [
    'tail login',
    '14:03:05  login perMinute  ann@example.com  denied  passes at 14:04:00, in 55 s  cost 1  web-1:4711',
  ],
  writes: false,
  async run(context, [limiter], options) {
    const most = options.count === undefined ? undefined : permitsOf('--count', options.count);
    const ms = options.for === undefined ? undefined : toMicros('--for', String(options.for)) / 1_000;
    const owners = new Owners(context);
    const fleet = owners.read();
    const lines = new Lines(context, owners, fleet, filterOf(limiter, options.key), most);
    const warned = fleet.then((read) => {
      warnOfSilence(context, read);
      if (limiter !== undefined) noteUnknown(context, read, limiter);
    });
    const timeIsUp = await followed(context, lines, ms);
    if (!timeIsUp) return 0;
    await Promise.all([warned, lines.ended]);
    return lines.written === 0 ? 1 : 0;
  },
};

/** Processes may begin to send later, so this is no error. */
function warnOfSilence({ notes, store }: Context, { processes }: Fleet): void {
  const others = processes.filter(({ process }) => process !== store.fleet?.process);
  if (others.length === 0 || others.some(({ denials }) => denials)) return;
  notes.say(
    'No process sends its denials. Create their stores with the option denials: redisStore({ url, denials: true }).',
  );
}

/** Writes until there are enough lines, the time has passed, or Ctrl-C. Resolves to true if the time has passed. */
function followed({ store, notes, address, signal }: Context, lines: Lines, ms?: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', interrupted);
      stop();
      settle();
    };
    const interrupted = () => end(() => resolve(false));
    const stop = followDenials(store, {
      report(report) {
        void lines.write(report).then(() => {
          if (lines.areEnough) end(() => resolve(false));
        });
      },
      lost(error) {
        if (isStoreRefusal(error)) end(() => reject(error));
        else notes.say(`${address} does not answer. Trying again.`);
      },
      leftOut: notes.leftOut,
      resumed: () => notes.say(`${address} answers again. Denials in between are not shown.`),
    });
    const timer =
      ms === undefined ? undefined : setTimeout(() => end(() => resolve(true)), Math.min(ms, LONGEST_TIMER));
    signal.addEventListener('abort', interrupted);
    if (signal.aborted) interrupted();
  });
}

/** Writes reports as lines. */
class Lines {
  written = 0;
  /** Settles when all reports so far are written. */
  ended: Promise<unknown>;

  /** @param fleet names the limiters; reports that arrive before it resolves are written afterwards */
  constructor(
    private readonly context: Context,
    private readonly owners: Owners,
    fleet: Promise<Fleet>,
    private readonly isWanted: (denial: OwnedDenial) => boolean,
    private readonly most: number | undefined,
  ) {
    this.ended = fleet;
  }

  get areEnough(): boolean {
    return this.written === this.most;
  }

  write(report: DenialReport): Promise<void> {
    const written = this.ended.then(async () => this.#write(report, await this.owners.of(report.denials)));
    this.ended = written;
    return written;
  }

  #write(report: DenialReport, denials: readonly OwnedDenial[]): void {
    const { output } = this.context;
    for (const denial of denials.filter(this.isWanted)) {
      if (this.areEnough) return;
      output.line(denialLine(output, denial, report));
      output.json(denialJson(denial, report));
      this.written += 1;
    }
    if (report.omitted === 0) return;
    const { omitted, process, host, pid } = report;
    output.line(omittedLine(output, report));
    output.json({ omitted, process, host, pid });
  }
}

/** @param limiter a limiter, a combination or a meter @param key the key that callers pass; a process can send its hash */
function filterOf(limiter: string | undefined, key: Option): (denial: OwnedDenial) => boolean {
  const stored = typeof key === 'string' ? encodeKey(key) : undefined;
  const hashed = stored && hashStoredKey(stored);
  return (denial) =>
    (limiter === undefined || denial.limiter === limiter || denial.combination === limiter) &&
    (stored === undefined || denial.key === stored || denial.key === hashed);
}

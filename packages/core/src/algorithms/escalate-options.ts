import { type Duration, toMicros } from '../duration.js';
import { checkInteger, checkOptions, describe } from '../options.js';

/** The numbers of `escalate`: denials that make a block, µs in which they count, µs until they are forgiven, µs of each block in turn. */
export type Escalation = readonly number[];

/**
 * Blocks a key that is denied again and again, longer each time. `{ after: 3, within: '1h', block: ['1m', '10m', '1d'], forgive: '1d' }`: the
 * third denial within one hour blocks the key for one minute; after that block, the third denial within one hour blocks it for ten
 * minutes; then for one day, each time. A day after the end of the last block or the last denial that counted, whichever is later, the
 * key is forgiven: its next block lasts one minute again.
 *
 * A denial counts when a policy denied a `consume` or an `acquire` by its own numbers. These do not count: denials while the key is
 * blocked, so a client that keeps calling is not blocked without end; `peek`; calls with `shadow: true`, as in a dry run; a call that can never
 * pass, because its cost is above the limit; a penalty; an `acquire` that waited for `concurrency` permits in vain; and denials by a failure
 * policy `'deny'`.
 *
 * With several policies, each counts its own denials, and the block of one denies every call of the limiter.
 */
export interface EscalateOptions {
  /** The denial that blocks: 3 for the third; from 1 to 100. */
  readonly after: number;
  /** Time in which these denials must come. */
  readonly within: Duration;
  /** How long the first block lasts, the second one, …; 1 to 20 of them. The last one is used from then on. */
  readonly block: Duration | readonly Duration[];
  /** Time without a counted denial after which the key is forgiven, at least `within`; default `'1d'`, or `within` if that is longer. */
  readonly forgive?: Duration | undefined;
}

const DAY = 86_400_000_000;
const MOST_DENIALS = 100;
const MOST_BLOCKS = 20;

/** @throws RangeError, TypeError naming the invalid option */
export function compileEscalation(where: string, options: EscalateOptions): Escalation {
  const name = `${where}: escalate`;
  checkOptions(name, options, ['after', 'within', 'block', 'forgive']);
  const after = checkInteger(`${name}.after`, options.after, 1, MOST_DENIALS);
  const within = toMicros(`${name}.within`, options.within);
  const { block, forgive } = options;
  const blocks = Array.isArray(block) ? (block as readonly Duration[]) : [block as Duration];
  if (blocks.length === 0 || blocks.length > MOST_BLOCKS) {
    throw new RangeError(
      `${name}.block must have 1 to ${MOST_BLOCKS} durations, such as ['1m', '10m', '1d'], not ${describe(block)}`,
    );
  }
  const forgiven = forgive === undefined ? Math.max(DAY, within) : toMicros(`${name}.forgive`, forgive);
  if (forgiven < within) {
    throw new RangeError(
      `${name}.forgive must be at least within, the time in which denials count, not ${describe(forgive)}`,
    );
  }
  return [after, within, forgiven, ...blocks.map((one, i) => toMicros(`${name}.block[${i}]`, one))];
}

import { JITTER, type State } from '../algorithms/algorithm.js';
import { type Duration, toMicros } from '../duration.js';
import { checkInteger, checkOptions, describe } from '../options.js';
import { live } from './counter.js';

/** The numbers of `escalate`: denials that make a block, µs in which they count, µs until they are forgiven, µs of each block in turn. */
export type Escalation = readonly number[];

/**
 * Moments (µs) of denials that count, and the blocks that they have set. Kept under a key of its own, and of the form of an
 * algorithm's state: when it expires; when it was written; how many steps of `block` were taken; the end of the last block or the last
 * denial that counted, whichever is later; and the denials since the last block.
 */
export type EscalationState = State;
const DENIALS = 4;

/** Keys of callers have no such character, so this is no other caller's key. */
export const ESCALATION_SUFFIX = '^';

/** An escalation at a moment: what of its state still counts. */
export interface Escalated {
  /** Blocks set since the key was last forgiven, at most as many as there are steps. */
  readonly step: number;
  /** The end of the last block or the last denial that counted; 0 without one. */
  readonly since: number;
  readonly denials: readonly number[];
  /** `now`; if the clock trembles, the latest moment that it showed. */
  readonly seen: number;
}

/** Drops what no longer counts. If the clock went back, every moment keeps its distance from now. */
export function escalatedAt(
  escalation: Escalation,
  state: EscalationState | undefined,
  now: number,
): Escalated {
  const known = live(state, now);
  const nothing = { step: 0, since: 0, denials: [], seen: now };
  if (known === undefined) return nothing;
  const [, within, forgive] = escalation as [number, number, number];
  const written = known[1]!;
  const back = written - now > JITTER ? written - now : 0;
  const seen = Math.max(now, written - back);
  const since = known[3]! - back;
  if (since + forgive <= seen) return { ...nothing, seen };
  const denials: number[] = [];
  for (let i = DENIALS; i < known.length; i += 1) {
    if (known[i]! - back + within > seen) denials.push(known[i]! - back);
  }
  return { step: Math.min(known[2]!, escalation.length - 3), since, denials, seen };
}

/** What a denial makes of it. */
export interface Strike {
  readonly state: EscalationState;
  /** µs of the block that it sets; 0 for none. */
  readonly block: number;
  readonly step: number;
}

/** Counts a denial. The twin is `escalation.lua`. */
export function strike(escalation: Escalation, state: EscalationState | undefined, now: number): Strike {
  const [after, within, forgive, ...blocks] = escalation as [number, number, number, ...number[]];
  const { step, since, denials, seen } = escalatedAt(escalation, state, now);
  if (denials.length + 1 < after) {
    const latest = Math.max(since, seen);
    const expiry = latest + (step > 0 ? forgive : within);
    return { state: [expiry, seen, step, latest, ...denials, seen], block: 0, step };
  }
  const next = Math.min(step + 1, blocks.length);
  const block = blocks[next - 1]!;
  const end = seen + block;
  return { state: [end + forgive, seen, next, end], block, step: next };
}

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

import { JITTER, type State } from '../algorithms/algorithm.js';
import type { Escalation } from '../algorithms/escalate-options.js';
import { live } from './counter.js';

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

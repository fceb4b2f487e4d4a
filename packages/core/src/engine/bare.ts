import type { State } from '../algorithms/algorithm.js';
import { type Answer, answerOf, type Call } from '../call/call.js';
import { live } from './counter.js';
import { type Entry, isEnvelope } from './entry.js';

/** The answer to a call, and the state of its key afterwards. */
export interface Decided {
  readonly answer: Answer;
  readonly state: State | undefined;
  /** Must the store write it? See `KeyState.keeps`. */
  readonly changed: boolean;
}

/**
 * The same as `decide` for most calls: one part, whose key holds a bare state or nothing, and nothing to book. The twin is `bare.lua`.
 * @returns `undefined` for any other call
 */
export function decideBare(
  { operation, parts, traced }: Call,
  entry: Entry | undefined,
  now: number,
): Decided | undefined {
  const { limit, cost } = parts[0]!;
  const { rule, shared } = limit;
  const { algorithm } = rule;
  const taking = operation !== 'peek';
  if (taking && operation !== 'consume' && operation !== 'acquire') return undefined;
  if (traced === true || parts.length > 1 || shared !== undefined) return undefined;
  if (entry !== undefined && isEnvelope(entry)) return undefined;
  // Leases end, and calls wait for them.
  if (algorithm.holders !== undefined && (taking || entry !== undefined)) return undefined;
  const parameters = rule.parametersAt?.(now) ?? rule.parameters;

  const before = live(entry, now);
  let state =
    (before && live(algorithm.normalize(parameters, before, now), now)) ??
    algorithm.initialState?.(parameters, now);
  let changed = state !== before && (taking || before !== undefined);
  const acquireWait = operation === 'acquire' ? algorithm.booking?.acquireWait : undefined;
  const wait =
    acquireWait === undefined
      ? algorithm.wait(parameters, state, now, cost)
      : acquireWait(parameters, state, now, cost);
  if (wait > 0 && operation === 'acquire') return undefined;
  // A denial counts for an escalation.
  if (wait !== 0 && rule.escalation !== undefined) return undefined;
  const taken = wait === 0 && taking && cost > 0;
  if (taken) {
    state = algorithm.take(parameters, state, now, cost);
    changed = true;
  }

  const { remaining, reset } = algorithm.usage(parameters, state, now);
  const answer = answerOf(now, wait, taken ? now : 0, remaining, reset);
  return { answer, state, changed };
}

import type { WindowView } from '../../decision.js';
import { JITTER, type Parameters, type State } from '../algorithm.js';
import { down } from '../arithmetic.js';

/** The third parameter, which windows that begin with their first call do not have. */
export const CLOCK = 1;
export const CALENDAR = 2;
/** Index of a calendar's first edge in the parameters. */
export const EDGES = 3;

/** The end of the window that contains `moment`, or begins then with its first call. */
export function endOf(parameters: Parameters, moment: number): number {
  const window = parameters[1]!;
  if (parameters[2] === undefined) return moment + window;
  let edge = parameters[EDGES] ?? 0;
  for (let i = EDGES + 1; i < parameters.length && moment >= edge; i += 1) {
    if (moment < parameters[i]!) return parameters[i]!;
    edge = parameters[i]!;
  }
  // No calendar, or one of other times: steps of a window from the nearest edge.
  return edge + (down(moment - edge, window) + 1) * window;
}

/**
 * The latest end that a window can have at `now`. A later one means that the clock went back, or that the policy had other windows. A
 * clock that trembles does not end a window of `align: 'clock'`: each step over its edge would begin it again.
 */
export const latestEnd = (parameters: Parameters, now: number): number =>
  endOf(parameters, parameters[2] === undefined ? now : now + JITTER);

export const usedAt = (state: State | undefined, now: number): number =>
  state === undefined || state[0]! <= now ? 0 : state[1]!;

/** The start of the window that ends at `end`. */
export function startOf(parameters: Parameters, end: number): number {
  const at = parameters.indexOf(end, EDGES + 1);
  return at > EDGES ? parameters[at - 1]! : end - parameters[1]!;
}

export function windowView(parameters: Parameters, state: State | undefined, now: number): WindowView {
  const end = state !== undefined && state[0]! > now ? state[0]! : undefined;
  return {
    kind: 'window',
    limit: parameters[0]!,
    used: usedAt(state, now),
    start: end === undefined ? undefined : startOf(parameters, end),
    end,
  };
}

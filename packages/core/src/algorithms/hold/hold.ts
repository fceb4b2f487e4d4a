import { type Algorithm, NEVER, type Rule } from '../algorithm.js';

/*
 * What a store keeps of holds: amounts that a caller may still spend. `engine/hold.ts` changes these states; hold.lua and engine/hold.lua
 * are the twins. No policy of a user is of this algorithm.
 *
 * The record of a hold: [when the record expires (µs), when the hold lapses (µs), its owner, when it began (µs), its kind,
 *                        then the amount held of each limit].
 * The amounts held of a limit: [when the last of them lapses (µs), then (the moment at which it lapses, amount) by moment].
 *
 * Parameters: [limit: the most that is held at once].
 */

/** Places in a record. */
export const LAPSES = 1;
export const OWNER = 2;
export const BEGAN = 3;
export const KIND = 4;
export const RECORD_HEAD = 5;

/** Kinds of a record. What a hold of kind `KEEP` holds has been taken from its limits; of kind `REFUND` it is only held. */
export const KEEP = 1;
export const REFUND = 2;
export const SETTLED = 3;

/** More than any limit that counts spent amounts, which bounds the held ones, too. Exact also in a client that reads numbers as texts. */
export const MOST_HELD = 1e15;

/** The amounts that lapse after `now`, as moment and amount by turns. */
export function liveAmounts(state: readonly number[] | undefined, now: number): number[] {
  const amounts: number[] = [];
  if (state !== undefined)
    for (let i = 1; i < state.length; i += 2) if (state[i]! > now) amounts.push(state[i]!, state[i + 1]!);
  return amounts;
}

/** The sum of amounts, which saturates. */
export function sumOf(amounts: readonly number[]): number {
  let sum = 0;
  for (let i = 1; i < amounts.length; i += 2) sum = Math.min(sum + amounts[i]!, Number.MAX_SAFE_INTEGER);
  return sum;
}

/** Plain calls change nothing: these states have operations of their own. */
export const holdAlgorithm: Algorithm = {
  tag: 'hd',
  figures: {
    parameterNames: ['limit'],
    size: ([limit]) => ({ limit: limit!, window: 1 }),
    view: ([limit], state, now) => {
      const amounts = liveAmounts(state, now);
      const holders = Array.from({ length: amounts.length / 2 }, (_, i) => ({
        since: now,
        until: amounts[2 * i]!,
        permits: amounts[2 * i + 1]!,
      }));
      return { kind: 'holders', limit: limit!, held: sumOf(amounts), holders, waiting: [] };
    },
  },
  normalize: (_, state) => state,
  wait: (_parameters, _state, _now, cost) => (cost === 0 ? 0 : NEVER),
  take: (_parameters, state, now) => state ?? [now, 0, 0],
  refund: (_, state) => state,
  usage([limit], state, now) {
    const isRecord = limit === 0;
    const remaining = isRecord ? 0 : Math.max(0, limit! - sumOf(liveAmounts(state, now)));
    return { remaining, reset: state === undefined ? 0 : Math.max(0, state[0]! - now) };
  },
};

/** The rule of a record, or of the amounts held of a limit. @param most is held at once; 0 for a record */
export const holdRule = (most: number): Rule => ({
  algorithm: holdAlgorithm,
  parameters: [most],
  limit: most,
  window: 1,
});

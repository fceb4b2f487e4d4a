import type { Answer } from '@sluice/core';
import { liveAmounts, NEVER, sumOf } from '@sluice/core/internal';
import { type BudgetLine, type BudgetState, takable } from './budget-state.js';
import type { Denial } from './errors.js';
import type { HeldAxis } from './parts.js';

/** Reads a traced answer. @param first the place of the first axis among the parts */
export function stateOf(
  meter: string,
  axes: readonly HeldAxis[],
  answer: Answer,
  first: number,
): BudgetState {
  const lines = axes.map((axis) => lineOf(axis, answer, first));
  const left: Record<string, number> = {};
  for (const line of lines) {
    const own = takable(line);
    left[line.axis] = Math.min(left[line.axis] ?? own, own);
  }
  return { meter, left, lines };
}

function lineOf(
  { axis, scope, spent, held, place, isSoft }: HeldAxis,
  answer: Answer,
  first: number,
): BudgetLine {
  const heldPart = answer.parts[first + place + (spent === undefined ? 0 : 1)]!;
  const amounts = liveAmounts(heldPart.trace!.after, answer.now);
  const amount = sumOf(amounts);
  if (spent === undefined) {
    const { limit } = held.rule;
    const common = { scope, axis, limit, used: 0, held: amount, left: limit - amount };
    const resetAfter = Math.ceil(heldPart.reset / 1000);
    return { ...common, resetAfter, moreAfter: resetAfter, window: undefined };
  }
  const part = answer.parts[first + place]!;
  const { parameters, after, blockedUntil } = part.trace!;
  const { figures } = spent.rule.algorithm;
  const { limit, window } = figures.size(parameters);
  const view = figures.view(parameters, after, answer.now);
  const used =
    view.kind === 'bucket' ? view.capacity - Math.floor(view.level) : 'used' in view ? view.used : 0;
  const left = limit - used - amount;
  const more = moreAfter(
    figures.more?.(parameters, part.remaining, part.reset) ?? part.reset,
    lapseThatLeaves(amounts, left, answer.now),
  );
  return {
    ...{ scope, axis, limit, used, held: amount, left },
    resetAfter: Math.ceil(part.reset / 1000),
    moreAfter: Math.ceil(more / 1000),
    window: Math.ceil(window / 1000),
    // A soft axis lets pass what takes some of it, also in a block.
    blockedFor:
      blockedUntil > answer.now && !isSoft ? Math.ceil((blockedUntil - answer.now) / 1000) : undefined,
  };
}

/** µs until held amounts have lapsed of which some is then left; undefined: some is left now, or they are not enough. */
function lapseThatLeaves(amounts: readonly number[], left: number, now: number): number | undefined {
  if (left > 0) return undefined;
  let sum = left;
  for (let i = 0; i < amounts.length; i += 2) {
    sum += amounts[i + 1]!;
    if (sum > 0) return amounts[i]! - now;
  }
  return undefined;
}

/** The earlier of both. @param own µs until the limit itself has more; 0: nothing of it is used */
function moreAfter(own: number, lapse: number | undefined): number {
  if (lapse === undefined) return own;
  return own === 0 ? lapse : Math.min(own, lapse);
}

/** Which axis denied: of several the one that frees last. */
export function denialOf(axes: readonly HeldAxis[], answer: Answer, first: number): Denial {
  let longest: HeldAxis | undefined;
  let wait = 0;
  for (const axis of axes) {
    const own = answer.parts[first + axis.place]!.wait;
    if (own === 0 || wait === NEVER || (own !== NEVER && own <= wait)) continue;
    longest = axis;
    wait = own;
  }
  const lines = axes.map((one) => lineOf(one, answer, first));
  const { axis, scope, limit, left, blockedFor } = lines[axes.indexOf(longest!)]!;
  return {
    ...{ axis, scope, limit, left, blockedFor, lines },
    retryAfter: wait === NEVER ? Number.POSITIVE_INFINITY : Math.ceil(wait / 1000),
  };
}

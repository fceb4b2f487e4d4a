import type { Answer } from '@sluice/core';
import { liveAmounts, NEVER, sumOf } from '@sluice/core/internal';
import type { Denial } from './errors.js';
import type { HeldAxis } from './parts.js';

/** One axis of one scope. */
export interface BudgetLine {
  readonly scope: string;
  readonly axis: string;
  readonly limit: number;
  /** What was settled, and what live holds with `lapse: 'keep'` have taken. */
  readonly used: number;
  /** What live holds with `lapse: 'refund'` hold, or what runs at once. */
  readonly held: number;
  /** `limit` less both: below 0 if more was used than was held. */
  readonly left: number;
  /** ms until nothing is used any more, if no other call comes. */
  readonly resetAfter: number;
}

/** The rest of a budget, after a call. */
export interface BudgetState {
  /** By axis: the least of all scopes. */
  readonly left: Readonly<Record<string, number>>;
  readonly lines: readonly BudgetLine[];
}

/** Reads a traced answer. @param first the place of the first axis among the parts */
export function stateOf(axes: readonly HeldAxis[], answer: Answer, first: number): BudgetState {
  const lines = axes.map((axis) => lineOf(axis, answer, first));
  const left: Record<string, number> = {};
  for (const line of lines) left[line.axis] = Math.min(left[line.axis] ?? line.left, line.left);
  return { left, lines };
}

function lineOf({ axis, scope, spent, held, place }: HeldAxis, answer: Answer, first: number): BudgetLine {
  const heldPart = answer.parts[first + place + (spent === undefined ? 0 : 1)]!;
  const amount = sumOf(liveAmounts(heldPart.trace!.after, answer.now));
  if (spent === undefined) {
    const { limit } = held.rule;
    const common = { scope, axis, limit, used: 0, held: amount, left: limit - amount };
    return { ...common, resetAfter: Math.ceil(heldPart.reset / 1000) };
  }
  const part = answer.parts[first + place]!;
  const { parameters, after } = part.trace!;
  const { figures } = spent.rule.algorithm;
  const { limit } = figures.size(parameters);
  const view = figures.view(parameters, after, answer.now);
  const used =
    view.kind === 'bucket' ? view.capacity - Math.floor(view.level) : 'used' in view ? view.used : 0;
  const left = limit - used - amount;
  return { scope, axis, limit, used, held: amount, left, resetAfter: Math.ceil(part.reset / 1000) };
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
  const { axis, scope, limit, left } = lineOf(longest!, answer, first);
  return {
    axis,
    scope,
    limit,
    left,
    retryAfter: wait === NEVER ? Number.POSITIVE_INFINITY : Math.ceil(wait / 1000),
  };
}

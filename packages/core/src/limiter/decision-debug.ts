import type { State } from '../algorithms/algorithm.js';
import { type Answer, type Part, type PartAnswer, storageKey } from '../call/call.js';
import type { DecisionDebug, PolicyDebug, StateDebug } from '../decision.js';

/** The debug view of an answer; undefined without a trace: it was not requested, or the store did not decide. */
export function debugOf(parts: readonly Part[], { now, parts: answers }: Answer): DecisionDebug | undefined {
  if (answers.some(({ trace }) => trace === undefined)) return undefined;
  return { now, policies: parts.map((part, i) => policyDebug(part, answers[i]!, now)) };
}

function policyDebug(part: Part, { trace, override }: PartAnswer, now: number): PolicyDebug {
  const { parameters, before, after, queue, blockedUntil } = trace!;
  const { name, rule } = part.limit;
  const { algorithm } = rule;
  const names = algorithm.figures.parameterNames;
  const stateOf = (state: State | undefined): StateDebug => {
    const { remaining, reset } = algorithm.usage(parameters, state, now);
    const view = algorithm.figures.view(parameters, state, now);
    return { state: state ?? [], remaining, resetAfter: reset, view };
  };
  return {
    name,
    key: storageKey(part),
    numbers: Object.fromEntries(
      names.flatMap((word, i) => (i < parameters.length ? [[word, parameters[i]!]] : [])),
    ),
    overridden: override !== undefined,
    before: stateOf(before),
    after: stateOf(after),
    booked: queue.flatMap((at, i) => (i % 2 === 0 ? [{ at, cost: queue[i + 1]! }] : [])),
    blockedUntil,
  };
}

import type { State } from '../algorithms/algorithm.js';
import { type Answer, type PartAnswer, storageKey } from '../engine/call.js';
import type { PolicyPart } from '../pipeline/policy-limit.js';

/** The inputs of a decision, as its store has them: `consume(key, { debug: true })`. Times are whole µs. */
export interface DecisionDebug {
  /** The moment of the decision on the store's clock: the Redis server's, or this process's. */
  readonly now: number;
  /** One entry per policy, in the order given. */
  readonly policies: readonly PolicyDebug[];
}

export interface PolicyDebug {
  /** The name of the policy. */
  readonly name: string;
  /** The storage key of the state. */
  readonly key: string;
  /** The policy's parameters by name; during an override the override's. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Are they the parameters of an override or of a shared rate? */
  readonly overridden: boolean;
  /** What the key had taken before and after the call. */
  readonly before: StateDebug;
  readonly after: StateDebug;
  /** Calls that wait for their promised moment. */
  readonly booked: readonly { readonly at: number; readonly cost: number }[];
  /** End of the key's block; 0 without one. */
  readonly blockedUntil: number;
}

export interface StateDebug {
  /** As stored: see the algorithm's `State` in its source. Empty if nothing that was taken counts any more. */
  readonly state: readonly number[];
  /** Whole permits left in this state, without the calls that are booked. */
  readonly remaining: number;
  /** Time until every permit is back. */
  readonly resetAfter: number;
}

/** The debug view of an answer; undefined without a trace: it was not requested, or the store did not decide. */
export function debugOf(
  parts: readonly PolicyPart[],
  { now, parts: answers }: Answer,
): DecisionDebug | undefined {
  if (answers.some(({ trace }) => trace === undefined)) return undefined;
  return { now, policies: parts.map((part, i) => policyDebug(part, answers[i]!, now)) };
}

function policyDebug(part: PolicyPart, { trace, override }: PartAnswer, now: number): PolicyDebug {
  const { parameters, before, after, queue, blockedUntil } = trace!;
  const { name, rule } = part.limit;
  const { algorithm } = rule;
  const names = algorithm.parameterNames;
  const stateOf = (state: State | undefined): StateDebug => {
    const { remaining, reset } = algorithm.left(parameters, state, now);
    return { state: state ?? [], remaining, resetAfter: reset };
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

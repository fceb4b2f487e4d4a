import type { State } from './algorithms/algorithm.js';
import type { Answer, Part, PartAnswer } from './decisions/call.js';

/** What a decision was made by, as its store has it: `consume(key, { debug: true })`. Moments and times are whole µs. */
export interface DecisionDebug {
  /** The moment of the decision on the clock of the store: that of the Redis server, or of this process. */
  readonly now: number;
  /** In the order in which the policies were given. */
  readonly policies: readonly PolicyDebug[];
}

export interface PolicyDebug {
  /** The name of the policy. */
  readonly name: string;
  /** Where the store keeps the state. */
  readonly key: string;
  /** The numbers that the policy is reckoned with, by their names; those of the override while there is one. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Are those the numbers of an override, or of a shared rate? */
  readonly overridden: boolean;
  /** What the key had taken when the call came, and afterwards. */
  readonly before: StateDebug;
  readonly after: StateDebug;
  /** Calls that wait for a moment that was promised to them. */
  readonly booked: readonly { readonly at: number; readonly cost: number }[];
  /** Until when the key is blocked; 0 when it is not. */
  readonly blockedUntil: number;
}

export interface StateDebug {
  /** As it is stored: see the algorithm's `State` in its source. Empty when nothing that was taken counts any more. */
  readonly state: readonly number[];
  /** Whole permits that are left by this state, before calls that are booked. */
  readonly remaining: number;
  /** Until every permit is back. */
  readonly resetAfter: number;
}

/** What an answer was made by; undefined when nobody asked, or the store did not decide. */
export function debugOf(
  parts: readonly (Part & { readonly name: string })[],
  { now, parts: answers }: Answer,
): DecisionDebug | undefined {
  if (answers.some(({ trace }) => trace === undefined)) return undefined;
  return { now, policies: parts.map((part, i) => policyDebug(part, answers[i]!, now)) };
}

function policyDebug(
  { name, key, rule: { algorithm } }: Part & { readonly name: string },
  { trace, override }: PartAnswer,
  now: number,
): PolicyDebug {
  const { parameters, before, after, queue, blockedUntil } = trace!;
  const names = algorithm.parameterNames;
  const stateOf = (state: State | undefined): StateDebug => {
    const { remaining, reset } = algorithm.left(parameters, state, now);
    return { state: state ?? [], remaining, resetAfter: reset };
  };
  return {
    name,
    key,
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

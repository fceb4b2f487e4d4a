import { NEVER, type State } from '../algorithms/algorithm.js';
import {
  type Answer,
  bindingPart,
  type CallParts,
  type Decider,
  longestBlock,
  type Part,
  type PartAnswer,
  storageKey,
  waitMs,
} from '../call/call.js';
import type { Decision, DecisionDebug, PolicyDebug, PolicyDecision, StateDebug } from '../decision.js';
import { RateLimitExceededError, StoreUnavailableError } from '../errors.js';
import { publicName } from '../public-names.js';

const NOTHING: readonly Part[] = [];

/** The property of an adapter's own view of a decision that holds the decision; the same in all copies of this package. */
export const DECISION_OF: unique symbol = Symbol.for('sluice.decision-of');

/** The decision that a view shows; anything else as it is. */
export const decisionOf = (shown: Decision): Decision => Object(shown)[DECISION_OF] ?? shown;

/** A decision that knows what it took, so that a refund can return it once. Rarely read fields are getters. */
export class DecisionRecord implements Decision {
  readonly allowed: boolean;
  readonly name: string;
  readonly policy: string;
  readonly cost: number;
  readonly limit: number;
  readonly window: number;
  readonly remaining: number;
  readonly retryAfter: number;
  readonly resetAfter: number;
  readonly waited: number;
  readonly source: string;
  readonly degraded: boolean;
  declare readonly blockedFor?: number;
  declare readonly debug?: DecisionDebug;
  readonly #call: CallParts;
  readonly #answer: Answer;
  readonly #decider: Decider;
  /** The index of the binding policy. */
  readonly #bound: number;
  #taken: readonly Part[] | undefined;
  #policies: readonly PolicyDecision[] | undefined = undefined;

  /**
   * @param first the first part of the call
   * @param decider decided, unless the answer has another source
   * @param taken whether the call takes its permits when allowed
   * @param waited µs
   */
  constructor(
    name: string,
    decider: Decider,
    call: CallParts,
    first: Part,
    answer: Answer,
    taken: boolean,
    waited: number,
  ) {
    const { allowed, parts, source } = answer;
    const bound = parts.length === 1 ? 0 : bindingPart(answer);
    const part = bound === 0 ? first : call.parts[bound]!;
    const own = parts[bound]!;
    const { rule } = part.limit;
    const size = own.override === undefined ? rule : rule.algorithm.figures.size(own.override);
    this.allowed = allowed;
    this.name = name;
    this.policy = part.limit.name;
    this.cost = part.cost;
    this.limit = size.limit;
    this.window = Math.ceil(size.window / 1000);
    this.remaining = own.remaining;
    this.retryAfter = allowed ? 0 : waitMs(answer.wait);
    // A waiting call gets its decision at its booked moment, and times count from then.
    this.resetAfter = Math.ceil((allowed ? Math.max(0, own.reset - answer.wait) : own.reset) / 1000);
    this.waited = allowed && waited > 0 ? Math.ceil(waited / 1000) : 0;
    this.source = source === undefined ? decider.name : source.name;
    this.degraded = source !== undefined && source.error !== undefined;
    this.#call = call;
    this.#answer = answer;
    this.#decider = source === undefined ? decider : source.decider;
    this.#bound = bound;
    this.#taken = taken && allowed ? undefined : NOTHING;
    if (!allowed) {
      const blocked = parts.length === 1 ? own.blocked : longestBlock(answer);
      if (blocked !== undefined && blocked > 0) this.blockedFor = Math.ceil(blocked / 1000);
    }
    if (parts[0]!.trace !== undefined) {
      const debug = debugOf(call.parts, answer);
      if (debug !== undefined) this.debug = debug;
    }
  }

  get moreAfter(): number {
    return this.policies[this.#bound]!.moreAfter;
  }

  get policies(): readonly PolicyDecision[] {
    if (this.#policies !== undefined) return this.#policies;
    const { parts } = this.#call;
    const { allowed, wait, parts: answers } = this.#answer;
    const asleep = allowed ? wait : 0;
    const decisions: PolicyDecision[] = [];
    for (let i = 0; i < parts.length; i += 1) {
      const own = answers[i]!;
      const { name, rule } = parts[i]!.limit;
      const { algorithm } = rule;
      const { limit, window } = own.override === undefined ? rule : algorithm.figures.size(own.override);
      const { remaining, reset } = own;
      const more = algorithm.figures.more?.(own.override ?? rule.parameters, remaining, reset) ?? reset;
      const decision: { -readonly [field in keyof PolicyDecision]: PolicyDecision[field] } = {
        name,
        cost: parts[i]!.cost,
        limit,
        window: Math.ceil(window / 1000),
        remaining,
        retryAfter:
          own.wait === NEVER ? Number.POSITIVE_INFINITY : Math.ceil(Math.max(0, own.wait - asleep) / 1000),
        resetAfter: Math.ceil(Math.max(0, reset - asleep) / 1000),
        moreAfter: Math.ceil(Math.max(0, more - asleep) / 1000),
      };
      if (algorithm.holders !== undefined) decision.held = true;
      decisions.push(decision);
    }
    this.#policies = decisions;
    return decisions;
  }

  toJSON(): Decision {
    const { moreAfter, policies } = this;
    return { ...this, moreAfter, policies };
  }

  /** For `console.log`. */
  [Symbol.for('nodejs.util.inspect.custom')](): Decision {
    return this.toJSON();
  }

  /** What a decision took and has not given back; `undefined` for any other value. */
  static taken(decision: unknown): readonly Part[] | undefined {
    if (typeof decision !== 'object' || decision === null || !(#taken in decision)) return undefined;
    const { parts } = decision.#call;
    const { parts: answers } = decision.#answer;
    decision.#taken ??= parts.map(({ limit, key, cost }, i) => ({ limit, key, cost, at: answers[i]!.at }));
    return decision.#taken;
  }

  /** Why the store did not decide. */
  static failure(decision: Decision): StoreUnavailableError | undefined {
    if (!(#answer in decision)) return undefined; // of another copy of this package
    return decision.#answer.source?.error;
  }

  /** Where its permits were taken. */
  static decider(decision: Decision): Decider {
    return (decision as DecisionRecord).#decider;
  }

  /** From now on only `parts` can be given back. */
  static keep(decision: Decision, parts: readonly Part[]): void {
    (decision as DecisionRecord).#taken = parts;
  }
}

/** Denied because the store is out, and not because a limit was exceeded. */
export const isFailureDenial = ({ allowed, degraded, source }: Decision): boolean =>
  !allowed && degraded && source === 'deny';

/**
 * The error of a decision that denied.
 * @param options of a limit that was exceeded
 */
export function errorOfDenial(
  decision: Decision,
  options?: ConstructorParameters<typeof RateLimitExceededError>[1],
): RateLimitExceededError | StoreUnavailableError {
  if (!isFailureDenial(decision)) return new RateLimitExceededError(decision, options);
  const cause = DecisionRecord.failure(decision);
  // The reason only: frameworks may send error messages to clients, and the cause may name the server.
  const why = cause === undefined ? '' : ` (${cause.reason})`;
  return new StoreUnavailableError(
    `Rate limit '${publicName(decision.name)}' denies until its store is back${why}`,
    { decision, ...(cause && { cause, reason: cause.reason }) },
  );
}

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
    numbers: Object.fromEntries(names.slice(0, parameters.length).map((word, i) => [word, parameters[i]!])),
    overridden: override !== undefined,
    before: stateOf(before),
    after: stateOf(after),
    booked: queue.flatMap((at, i) => (i % 2 === 0 ? [{ at, cost: queue[i + 1]! }] : [])),
    blockedUntil,
  };
}

import { NEVER } from '../algorithms/algorithm.js';
import type { Decision, DecisionDebug, PolicyDecision } from '../decision.js';
import type { Answer, PartAnswer } from '../engine/call.js';
import type { StoreUnavailableError } from '../errors.js';
import { isDegraded } from '../pipeline/fallback-answer.js';
import type { PolicyPart } from '../pipeline/policy-limit.js';
import type { Store } from '../stores/store.js';
import { debugOf } from './decision-debug.js';

const NOTHING: readonly PolicyPart[] = [];

/** Rounded up: at this many whole milliseconds the moment has come. */
const toMs = (micros: number) => Math.ceil(micros / 1000);
const waitMs = (micros: number) => (micros === NEVER ? Number.POSITIVE_INFINITY : toMs(micros));

/** A decision that remembers what it took, so that it can be given back: once. */
export class Booking implements Decision {
  readonly allowed: boolean;
  readonly name: string;
  readonly policy: string;
  readonly cost: number;
  readonly limit: number;
  readonly window: number;
  readonly remaining: number;
  readonly retryAfter: number;
  readonly resetAfter: number;
  readonly moreAfter: number;
  readonly waited: number;
  readonly source: string;
  readonly degraded: boolean;
  readonly policies: readonly PolicyDecision[];
  declare readonly debug?: DecisionDebug;
  readonly #parts: readonly PolicyPart[];
  readonly #answer: Answer;
  readonly #store: Store;
  /** Undefined until somebody asks: few decisions are given back. */
  #taken: readonly PolicyPart[] | undefined;

  constructor(
    name: string,
    store: Store,
    parts: readonly PolicyPart[],
    answer: Answer,
    taken: boolean,
    waited: number,
  ) {
    const { allowed } = answer;
    // Who waits for what was booked is told when the moment has come, and counts from then.
    const asleep = allowed ? answer.wait : 0;
    const policies = [policyDecision(parts[0]!, answer.parts[0]!, asleep)];
    let bound = policies[0]!;
    for (let i = 1; i < parts.length; i += 1) {
      const policy = policyDecision(parts[i]!, answer.parts[i]!, asleep);
      policies.push(policy);
      if (binds(policy, bound, allowed)) bound = policy;
    }
    this.allowed = allowed;
    this.name = name;
    this.policy = bound.name;
    this.cost = bound.cost;
    this.limit = bound.limit;
    this.window = bound.window;
    this.remaining = bound.remaining;
    this.retryAfter = allowed ? 0 : waitMs(answer.wait);
    this.resetAfter = bound.resetAfter;
    this.moreAfter = bound.moreAfter;
    this.waited = allowed ? toMs(waited) : 0;
    this.source = store.name;
    this.degraded = isDegraded(answer);
    this.#store = store;
    this.policies = policies;
    this.#parts = parts;
    this.#answer = answer;
    if (!taken || !allowed) this.#taken = NOTHING;
    if (answer.parts[0]!.trace !== undefined) {
      const debug = debugOf(parts, answer);
      if (debug !== undefined) this.debug = debug;
    }
  }

  /** What a decision took and has not given back yet; `undefined` when it is not one of ours. */
  static taken(decision: unknown): readonly PolicyPart[] | undefined {
    if (typeof decision !== 'object' || decision === null || !(#taken in decision)) return undefined;
    decision.#taken ??= decision.#parts.map((part, i) => ({ ...part, at: decision.#answer.parts[i]!.at }));
    return decision.#taken;
  }

  /** Why the store did not decide, if it did not. */
  static failure(decision: Decision): StoreUnavailableError | undefined {
    if (!(#answer in decision)) return undefined; // of another copy of this package
    return isDegraded(decision.#answer) ? decision.#answer.error : undefined;
  }

  /** Where it was taken. */
  static store(decision: Decision): Store {
    return (decision as Booking).#store;
  }

  /** From now on only these can still be given back. */
  static keep(decision: Decision, parts: readonly PolicyPart[]): void {
    (decision as Booking).#taken = parts;
  }
}

/** Does `a` bind rather than `b`? */
const binds = (a: PolicyDecision, b: PolicyDecision, allowed: boolean): boolean =>
  !allowed && a.retryAfter !== b.retryAfter ? a.retryAfter > b.retryAfter : a.remaining < b.remaining;

function policyDecision(
  { limit: { name, rule }, cost }: PolicyPart,
  answer: PartAnswer,
  asleep: number,
): PolicyDecision {
  const { algorithm } = rule;
  const { limit, window } = answer.override === undefined ? rule : algorithm.size(answer.override);
  const { remaining, reset } = answer;
  const more = algorithm.more?.(answer.override ?? rule.parameters, remaining, reset) ?? reset;
  const decision = {
    name,
    cost,
    limit,
    window: toMs(window),
    remaining,
    retryAfter: waitMs(answer.wait === NEVER ? NEVER : Math.max(0, answer.wait - asleep)),
    resetAfter: toMs(Math.max(0, reset - asleep)),
    moreAfter: toMs(Math.max(0, more - asleep)),
  };
  return algorithm.holders === undefined ? decision : { ...decision, held: true };
}

import { type DegradedAnswer, degraded } from '../call/answers.js';
import type { Answer, Call, Decider, Operation, Part, PartAnswer } from '../call/call.js';
import type { FailureChoice } from '../call/limit.js';
import type { Clock } from '../clock.js';
import type { StoreUnavailableError } from '../errors.js';
import type { Store, WakingFacet } from '../stores/store.js';

/** `retryAfter` while everything is denied, µs: when the store will be back is unknown. */
const SOON = 1_000_000;

/** Keeps the counts of this process alone. */
export interface LocalStore extends Pick<Store, 'clock' | 'close'>, WakingFacet {
  decide(call: Call): Answer;
}

/** @param clock of the store that is out */
export type MakeLocalStore = (options: { readonly clock: Clock }) => LocalStore;

/** Operations that a failure policy can decide. All others are about the state in the store. */
const DECISIONS: readonly Operation[] = ['consume', 'peek', 'acquire'];

/** All limits of the call have a failure policy for its operation. */
export const hasFallback = (call: Call): boolean =>
  DECISIONS.includes(call.operation) && call.parts.every(({ limit }) => limit.fallback !== undefined);

/**
 * Decides while one store is out. All limiters of the store share it, so limiters with common counts keep them.
 * @returns decides a call; throws `error` if no failure policy applies, or the error of a failure policy
 */
export function fallbackOf(local: LocalStore): (call: Call, error: StoreUnavailableError) => DegradedAnswer {
  const deciders: Readonly<Record<FailureChoice, Decider>> = {
    local: localDecider(local),
    allow: constantDecider('allow', local.clock, 0),
    deny: constantDecider('deny', local.clock, SOON),
  };
  return (call, error) => {
    if (error.reason === 'closed' || !hasFallback(call)) throw error;
    const decider = deciders[strictest(call, error)];
    return degraded(decider.decide(call) as Answer, { name: decider.name, decider, error });
  };
}

/** The strictest policy decides parts of several limiters. Each limiter's policy is called once. */
function strictest(call: Call, error: StoreUnavailableError): FailureChoice {
  const policies = new Set(call.parts.map(({ limit }) => limit.fallback!.choose));
  const choices = [...policies].map((choose) => choose(error));
  return (['deny', 'local'] as const).find((choice) => choices.includes(choice)) ?? 'allow';
}

/** Counts in this process, by its share of the limits. */
const localDecider = (store: LocalStore): Decider => ({
  name: 'local',
  clock: store.clock,
  decide({ operation, wait, parts: given, traced = false, overrides }) {
    const parts = given.map(({ limit, key, cost, at, booking }) => {
      return { limit: limit.fallback!.limit, key, cost, at, booking };
    });
    const answer = store.decide({ operation, wait, parts, traced, overrides });
    // The caller knows the whole limit: `override` has the parameters of this decision.
    const answers = answer.parts.map((part, i) => ({ ...part, override: parts[i]!.limit.rule.parameters }));
    return { ...answer, parts: answers };
  },
  listen: (key, granted) => store.listen(key, granted),
});

/** Gives every call the same answer, and counts nothing. @param wait of all calls: 0 allows them */
const constantDecider = (name: 'allow' | 'deny', clock: Clock, wait: number): Decider => ({
  name,
  clock,
  decide({ parts }) {
    const allowed = wait === 0;
    const answerTo = ({ limit: { rule } }: Part): PartAnswer => ({
      remaining: allowed ? rule.limit : 0,
      wait,
      reset: wait,
      at: 0,
      override: undefined,
    });
    return { allowed, queued: false, now: clock.now(), wait, parts: parts.map(answerTo) };
  },
});

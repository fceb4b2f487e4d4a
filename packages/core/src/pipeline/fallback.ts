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

/** Decides while one store is out. All limiters of the store share it, so limiters with common counts keep them. */
export class Fallback {
  readonly #local: LocalStore;
  readonly #deciders: Readonly<Record<FailureChoice, Decider>>;

  constructor(local: LocalStore) {
    const { clock } = local;
    this.#local = local;
    this.#deciders = {
      local: new LocalDecider(local),
      allow: new ConstantDecider('allow', clock, true, 0),
      deny: new ConstantDecider('deny', clock, false, SOON),
    };
  }

  /** @throws `error` if no failure policy applies, or the error of a failure policy */
  decide(call: Call, error: StoreUnavailableError): DegradedAnswer {
    if (error.reason === 'closed' || !hasFallback(call)) throw error;
    const decider = this.#deciders[strictest(call, error)];
    return degraded(decider.decide(call) as Answer, { name: decider.name, decider, error });
  }

  async close(): Promise<void> {
    await this.#local.close();
  }
}

/** The strictest policy decides parts of several limiters. Each limiter's policy is called once. */
function strictest(call: Call, error: StoreUnavailableError): FailureChoice {
  const policies = new Set(call.parts.map(({ limit }) => limit.fallback!.choose));
  const choices = [...policies].map((choose) => choose(error));
  return (['deny', 'local'] as const).find((choice) => choices.includes(choice)) ?? 'allow';
}

/** Counts in this process, by its share of the limits. */
class LocalDecider implements Decider {
  readonly name = 'local';
  readonly clock: Clock;

  constructor(readonly store: LocalStore) {
    this.clock = store.clock;
  }

  decide(call: Call): Answer {
    const { operation, wait, traced = false, overrides } = call;
    const parts = call.parts.map(({ limit, key, cost, at, booking }) => {
      return { limit: limit.fallback!.limit, key, cost, at, booking };
    });
    const answer = this.store.decide({ operation, wait, parts, traced, overrides });
    // The caller knows the whole limit: `override` has the parameters of this decision.
    const answers = answer.parts.map((part, i) => ({ ...part, override: parts[i]!.limit.rule.parameters }));
    return { ...answer, parts: answers };
  }

  listen(key: string, granted: (id: number) => void): Promise<() => void> {
    return this.store.listen(key, granted);
  }
}

/** Gives every call the same answer, and counts nothing. */
class ConstantDecider implements Decider {
  constructor(
    readonly name: 'allow' | 'deny',
    readonly clock: Clock,
    readonly allowed: boolean,
    readonly wait: number,
  ) {}

  decide({ parts }: Call): Answer {
    const { allowed, wait, clock } = this;
    const answerTo = ({ limit: { rule } }: Part): PartAnswer => ({
      remaining: allowed ? rule.limit : 0,
      wait,
      reset: wait,
      at: 0,
      override: undefined,
    });
    return { allowed, queued: false, now: clock.now(), wait, parts: parts.map(answerTo) };
  }
}

import type { Decision } from '@sluice/core';
import { BaseLimiter, isPromise, type MaybePromise } from '@sluice/core/internal';
import type { Rule } from '../compile/rule.js';
import type { RefusedShadow, ShadowCall } from './request-calls.js';

/** The decision of a shadow rule. */
export interface ShadowDecision {
  readonly rule: Rule;
  /** Undefined with an `error`. */
  readonly decision: Decision | undefined;
  /** Why the rule could not decide, such as a missing key. It does not affect the request. */
  readonly error: unknown;
}

/** Counts a request for a shadow rule. Never throws. */
export function decideShadow(call: ShadowCall | RefusedShadow): MaybePromise<ShadowDecision> {
  const { rule } = call;
  const failed = (error: unknown): ShadowDecision => ({ rule, decision: undefined, error });
  const decided = (decision: Decision): ShadowDecision => ({ rule, decision, error: undefined });
  if ('error' in call) return failed(call.error);
  try {
    const decision = BaseLimiter.consumer(call.limiter)(call.keys, { cost: call.cost, shadow: true });
    return isPromise(decision) ? decision.then(decided, failed) : decided(decision);
  } catch (error) {
    return failed(error);
  }
}

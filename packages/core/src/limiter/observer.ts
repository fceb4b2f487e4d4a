import type { Answer } from '../call/call.js';
import type { Decision } from '../decision.js';
import type { PolicyParts } from '../pipeline/policy-limit.js';
import type { TopKeys } from '../usage/top-keys.js';

/**
 * What a limiter reports its calls to. `Admission` has at most one: none unless its store has the option `usage`, or a policy has thresholds.
 * Calls wait for these functions, so they are short and never throw.
 */
export interface CallObserver {
  /**
   * A `consume` or an `acquire` has a decision.
   * @param answer what the store said, in the order of the call's parts
   * @param shadow the caller does not enforce the decision
   */
  decided(call: PolicyParts, decision: Decision, answer: Answer, shadow: boolean): void;
  /**
   * A `consume` or an `acquire` rejects. A denial that rejects has its decision in the error.
   * @param canceled its signal was aborted, or its limiter was closed
   */
  failed(call: PolicyParts, error: unknown, shadow: boolean, canceled: boolean): void;
  /** Permits were taken without a decision, as a penalty. */
  charged(call: PolicyParts, answer: Answer): void;
  /** Of what counts calls. */
  topKeys?(): TopKeys;
}

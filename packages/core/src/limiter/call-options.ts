import { type Duration, toMicros } from '../duration.js';
import { checkBoolean, checkInteger, checkOptions, describe } from '../options.js';

/** Permits: a whole number ≥ 0 for every policy, or a number for each, by its name; a policy not named counts 1. */
export type Cost = number | Readonly<Record<string, number>>;

/** What a call takes. */
export interface ConsumeOptions {
  /** Permits that the call takes; default 1. A cost of 0 takes nothing. */
  readonly cost?: Cost;
}

/** The options of `consume`, `consumeSync` and `peek`. */
export interface DecisionOptions extends ConsumeOptions {
  /**
   * Adds `decision.debug`: the state before and after the decision, the store's clock and the policy's parameters. Such a call
   * always reaches the store: it uses no cached denial and no prefetched permits. Default: false.
   */
  readonly debug?: boolean;
  /**
   * You will not enforce the decision, as in a dry run: it takes permits as usual, and metrics, logs and the diagnostics channels count it
   * apart, with the mode `shadow`. Default: false.
   */
  readonly shadow?: boolean;
}

/** How long a call waits for its permits. */
export interface WaitOptions {
  /**
   * The longest wait; default: no limit. A call is denied at once if its wait would be longer, or if `maxWaiting` calls wait at the same
   * key.
   */
  readonly timeout?: Duration;
  /** Aborting it ends the wait and gives the permits back. */
  readonly signal?: AbortSignal;
}

/** `WaitOptions`, checked. */
export interface WaitLimits {
  /** µs; undefined: no limit. */
  readonly timeout: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The options of `acquire` and `schedule`. */
export interface AcquireOptions extends ConsumeOptions, WaitOptions {}

export const NO_OPTIONS: AcquireOptions = {};

/** The cost for each policy, by its name. */
export type Costs = number | ReadonlyMap<string, number>;

export const costFor = (costs: Costs, policy: string): number =>
  typeof costs === 'number' ? costs : (costs.get(policy) ?? 1);

/** Option names of `consume` and `peek`. */
export const DECISION_OPTIONS: readonly string[] = ['cost', 'debug', 'shadow'];

/** @throws TypeError if the option is not a boolean */
export function flag(method: string, options: DecisionOptions, name: 'debug' | 'shadow'): boolean {
  const { [name]: value = false } = options;
  checkBoolean(`${method}: ${name}`, value);
  return value;
}

/** @throws TypeError for `consume(key, 5)` and misspelt options, which would otherwise count as 1 */
export function costOption(
  method: string,
  options: ConsumeOptions,
  policies: readonly string[],
  accepted: readonly string[] = ['cost'],
): Costs {
  if (options === NO_OPTIONS) return 1;
  checkOptions(method, options, accepted);
  return options.cost === undefined ? 1 : checkCost(`${method}: cost`, options.cost, policies);
}

export function checkCost(what: string, cost: Cost, policies: readonly string[]): Costs {
  if (typeof cost !== 'object' || cost === null) return checkInteger(what, cost, 0);
  checkOptions(`${what} by policy`, cost, policies);
  return new Map(
    Object.entries(cost).map(([name, permits]) => [name, checkInteger(`${what}.${name}`, permits, 0)]),
  );
}

export function waitOptions(method: string, { timeout, signal }: WaitOptions): WaitLimits {
  if (signal !== undefined && typeof signal?.throwIfAborted !== 'function') {
    throw new TypeError(`${method}: signal must be an AbortSignal, not ${describe(signal)}`);
  }
  return { timeout: timeout === undefined ? undefined : toMicros(`${method}: timeout`, timeout, 0), signal };
}

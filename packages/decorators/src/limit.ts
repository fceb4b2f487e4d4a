import { type Duration, type Policy, RateLimiter } from '@sluice/core';
import { checkCost, describe, isRecord } from '@sluice/core/internal';
import { type LimitDecorator, limitDecorator } from './limit-decorator.js';
import {
  type CommonOptions,
  type CostOfCall,
  commonLimit,
  type NotifyOptions,
  type Rules,
} from './limitation.js';
import { limitByRule, type RuleLimitOptions } from './rule-limit.js';
import { warnOfShortTimeout } from './units.js';

interface LimitAttributes extends CommonOptions {
  /**
   * Permits that a call takes: a whole number ≥ 0, a number for each of several `policies` by name (default 1 each), or a function of the
   * call's arguments that returns one of these. Default 1.
   */
  readonly cost?: CostOfCall;
  /** The longest wait for the permits: `'2s'`, or milliseconds; default 0: no wait. */
  readonly timeout?: Duration;
  /**
   * Thresholds that are published on the channel `sluice:threshold`, once for each key and window in all processes: `['80%', '100%']`. With
   * several `policies` by their names. For `fixedWindow` only. Default: none.
   */
  readonly notify?: NotifyOptions | undefined;
}

export type LimitOptions = LimitAttributes &
  (
    | {
        /** How to decide: `slidingLog({ … })`, `tokenBucket({ … })`, … */
        readonly policy: Policy;
        readonly policies?: undefined;
      }
    | {
        readonly policy?: undefined;
        /** Several policies by name, decided all or nothing: `{ perMinute: fixedWindow({ … }), perDay: … }`. */
        readonly policies: Readonly<Record<string, Policy>>;
      }
  );

/**
 * Limits an async method by any policy, or by several at once. A call that does not get its permits within `timeout` rejects with a
 * `RateLimitExceededError`, and the method does not run. A permit of `concurrency` is held until the method's promise settles. What it can
 * decorate, and what calls reject with: see `LimitDecorator`. If the function `cost` returns no cost, a call rejects with RangeError or
 * TypeError.
 * @param options a policy alone, or attributes
 * @throws RangeError, TypeError at decoration, naming the invalid attribute or what cannot be limited
 */
export function Limit(options: Policy | LimitOptions, ...rest: never[]): LimitDecorator;
/**
 * Limits an async method by a rule of the document that was passed to `configureSluice({ rules })` or `SluiceModule`. Each call uses the current
 * version of the rule.
 * @param rule its name in the document
 * @throws TypeError at decoration, naming the invalid attribute or what cannot be limited. Without rules, calls reject with a TypeError; with
 *   an unknown name, with a RangeError
 */
export function Limit(rule: string, options?: RuleLimitOptions): LimitDecorator;
export function Limit(options: Policy | LimitOptions | string, ...rest: unknown[]): LimitDecorator {
  if (typeof options === 'string') return limitByRule(options, rest[0] as RuleLimitOptions | undefined);
  const attributes: LimitOptions = isPolicy(options) ? { policy: options } : options;
  const own = ['policy', 'policies', 'cost', 'timeout', 'notify'];
  const common = commonLimit('@Limit', 'limit:', attributes, own, rest);
  const { policy, policies, timeout, cost } = attributes;
  if ((policy === undefined) === (policies === undefined)) {
    throw new TypeError(
      "@Limit takes a policy, such as slidingLog({ limit: 5, window: '1s' }), or several policies by name, not both",
    );
  }
  const { escalate, notify } = attributes;
  const more = { escalate, notify };
  const rules: Rules =
    policies === undefined ? { policy: policy!, ...more } : { policies: { ...checked(policies) }, ...more };
  checkRules(rules, timeout);
  warnOfShortTimeout(timeout);
  if (typeof cost === 'object' && policies === undefined) {
    throw new TypeError(
      `@Limit: a cost by policy is for several policies, not for one: use a number, not ${describe(cost)}`,
    );
  }
  // The result of a function is checked for each call.
  if (cost !== undefined && typeof cost !== 'function')
    checkCost('@Limit: cost', cost, Object.keys(policies ?? {}));
  return limitDecorator({ ...common, rules, timeout: timeout === 0 ? undefined : timeout, cost });
}

const isPolicy = (options: unknown): options is Policy =>
  typeof (options as Partial<Policy> | null | undefined)?.algorithm === 'string';

function checked(policies: unknown): Readonly<Record<string, Policy>> {
  if (isRecord(policies)) return policies as Readonly<Record<string, Policy>>;
  throw new TypeError(
    `@Limit: policies must be an object of policies by name, such as { perMinute: fixedWindow({ … }) }, not ${describe(policies)}`,
  );
}

/** Creates a limiter, so that invalid policies and timeouts fail at decoration and not at the first call. */
function checkRules(rules: Rules, timeout: Duration | undefined): void {
  try {
    new RateLimiter({ name: 'check', ...rules }).wrap(() => {}, timeout === undefined ? {} : { timeout });
  } catch (error) {
    if (error instanceof Error)
      error.message = error.message.replace(/^(?:RateLimiter(?: 'check')?|wrap): /, '@Limit: ');
    throw error;
  }
}

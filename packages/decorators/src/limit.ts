import { type Duration, type Policy, RateLimiter } from '@sluice/core';
import { checkCost, checkOptions, describe } from '@sluice/core/http';
import { type LimitDecorator, limitDecorator } from './limit-decorator.js';
import {
  type CommonOptions,
  type CostOfCall,
  checkParentheses,
  commonLimit,
  type Rules,
} from './limitation.js';

interface LimitAttributes extends CommonOptions {
  /**
   * The default gives each method its own limit. Methods that choose the same other prefix share one, and should then
   * have the same policies. Default `'limit:'`.
   */
  readonly prefix?: string;
  /**
   * Permits that a call takes: a whole number ≥ 0, or with several `policies` a number for each by its name (1 where none is
   * named), or a function that gives either from the arguments of the call. Default 1.
   */
  readonly cost?: CostOfCall;
  /** The longest wait for the permits: `'2s'`, or milliseconds; default 0: a call without them is refused at once. */
  readonly timeout?: Duration;
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
        /** Several policies by their names, decided all or nothing: `{ perMinute: fixedWindow({ … }), perDay: … }`. */
        readonly policies: Readonly<Record<string, Policy>>;
      }
  );

const DEFAULT_PREFIX = 'limit:';
const ATTRIBUTES = ['policy', 'policies', 'prefix', 'limitType', 'key', 'cost', 'timeout', 'params'];

/**
 * Holds an async method to any policy, or to several at once. A call that does not find its permits within `timeout` rejects with
 * a `RateLimitExceededError` and the method does not run. A permit of `concurrency` is held until the method's promise settles.
 *
 * Works as a standard (TC39) and as a legacy (`experimentalDecorators`) decorator, on instance, static and private methods;
 * on a class it limits each of its own methods by itself (see `SkipLimit`).
 * @param options a policy alone, or attributes
 * @throws RangeError, TypeError at decoration, naming the attribute that is wrong or the thing that cannot be limited. Calls
 *   reject with RateLimitExceededError, KeyResolutionError, StoreUnavailableError, StoreConfigurationError, LimiterClosedError;
 *   RangeError or TypeError when the function `cost` gives no cost.
 */
export function Limit(options: Policy | LimitOptions, ...rest: never[]): LimitDecorator {
  checkParentheses('@Limit', options, rest);
  const attributes: LimitOptions = isPolicy(options) ? { policy: options } : options;
  checkOptions('@Limit', attributes, ATTRIBUTES);
  const { policy, policies, prefix = DEFAULT_PREFIX, timeout, cost } = attributes;
  if ((policy === undefined) === (policies === undefined)) {
    throw new TypeError(
      "@Limit takes a policy, such as slidingLog({ limit: 5, window: '1s' }), or several policies by their names, and not both",
    );
  }
  const rules: Rules = policies === undefined ? { policy: policy! } : { policies: { ...checked(policies) } };
  checkRules(rules, timeout);
  if (typeof cost === 'object' && policies === undefined) {
    throw new TypeError(`@Limit: a cost by policy is for several policies, not for one: ${describe(cost)}`);
  }
  // What a function gives is checked when it is used.
  if (cost !== undefined && typeof cost !== 'function')
    checkCost('@Limit: cost', cost, Object.keys(policies ?? {}));
  return limitDecorator({
    ...commonLimit('@Limit', attributes, prefix, DEFAULT_PREFIX),
    rules,
    timeout: timeout === 0 ? undefined : timeout,
    cost,
  });
}

const isPolicy = (options: unknown): options is Policy =>
  typeof (options as Partial<Policy> | null | undefined)?.algorithm === 'string';

function checked(policies: unknown): Readonly<Record<string, Policy>> {
  if (typeof policies === 'object' && policies !== null && !Array.isArray(policies))
    return policies as Readonly<Record<string, Policy>>;
  throw new TypeError(
    `@Limit: policies must be an object of policies by their names, such as { perMinute: fixedWindow({ … }) }, not ${describe(policies)}`,
  );
}

/** Lets a limiter say what it would refuse at the first call: policies, and how long to wait. */
function checkRules(rules: Rules, timeout: Duration | undefined): void {
  try {
    new RateLimiter({ name: 'check', ...rules }).wrap(() => {}, timeout === undefined ? {} : { timeout });
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replace(/^(?:RateLimiter|wrap): /, '@Limit: ');
    throw error;
  }
}

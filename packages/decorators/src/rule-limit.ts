import { type Duration, fixedWindow, RateLimiter } from '@sluice/core';
import { checkName, checkOptions } from '@sluice/core/internal';
import { decoratorOf, type LimitDecorator } from './limit-decorator.js';
import { checkKey, type KeyOfCalls } from './limitation.js';
import { declaredParameterNames } from './parameter-names.js';
import { ruleAdmission } from './rule-admission.js';
import { warnOfShortTimeout } from './units.js';

/** The attributes of `@Limit('name')`. Everything else is in the document. */
export interface RuleLimitOptions {
  /** The key of a call, instead of the rule's: a key expression such as `#{phone}`, a list of keys, or a function of the call's arguments. */
  readonly key?: KeyOfCalls | undefined;
  /** The longest wait for the permits: `'2s'`, or milliseconds; default: the `timeout` of the rule, or no wait. */
  readonly timeout?: Duration | undefined;
  /** The names of the method's parameters, in their order, for code whose names a minifier shortens. */
  readonly params?: readonly string[] | undefined;
}

const IN_THE_DOCUMENT = 'belongs to the rule: set it in the document';
const REMEDIES = Object.fromEntries(
  ['policy', 'policies', 'cost', 'prefix', 'limitType'].map((name) => [name, IN_THE_DOCUMENT]),
);

/** @throws TypeError, RangeError naming the invalid attribute */
export function limitByRule(rule: string, options: RuleLimitOptions = {}): LimitDecorator {
  checkName('@Limit: the name of a rule', rule);
  checkOptions('@Limit', options, ['key', 'timeout', 'params'], REMEDIES);
  const { key, timeout, params } = options;
  if (key !== undefined) checkKey('@Limit', key);
  const names = params === undefined ? undefined : declaredParameterNames('@Limit', params);
  if (timeout !== undefined && timeout !== 0) checkTimeout(timeout);
  warnOfShortTimeout(timeout);
  return decoratorOf({
    decorator: '@Limit',
    title: `@Limit('${rule}')`,
    skipName: rule,
    admission: (target) => ruleAdmission({ rule, key, params: names, timeout }, target),
  });
}

/** @throws RangeError, TypeError */
function checkTimeout(timeout: Duration): void {
  try {
    new RateLimiter({ policy: fixedWindow({ limit: 1, window: 1 }) }).wrap(() => {}, { timeout });
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replace(/^wrap: /, '@Limit: ');
    throw error;
  }
}

import {
  type Cost,
  compileKey,
  type Duration,
  type LimiterKey,
  LimitType,
  type Policy,
  parseLimitType,
} from '@sluice/core';
import { describe } from '@sluice/core/http';
import { declaredParameterNames, type ParameterNames } from './parameter-names.js';

/** The attributes that all decorators have. */
export interface CommonOptions {
  /**
   * The key of a call, only with `limitType: 'CUSTOM'`. Either a key expression such as `#{phone}`, `#{user.id}` or `order:#{0}`: a
   * name is a parameter of the method, otherwise a field of the current request. Or a function of the call's arguments:
   * `(order) => order.customer`; `() => 'all'` makes all calls share one count. Default `''`.
   */
  readonly key?: string | KeyOfArguments;
  /** By what calls are told apart; default `'METHOD'`. */
  readonly limitType?: LimitType;
  /** The names of the method's parameters, in their order, for code whose names a minifier shortens. */
  readonly params?: readonly string[];
}

/** What of a limiter depends on the decoration alone. */
export type Rules = { readonly policy: Policy } | { readonly policies: Readonly<Record<string, Policy>> };

/** A checked decoration. */
export interface Limitation {
  /** How errors call it: `@RateLimit`. */
  readonly decorator: string;
  readonly rules: Rules;
  /** Before `ClassName.methodName` in the limiter's name, unless `sharedName` is given. */
  readonly prefix: string;
  /** The limiter's name, when the user chose a prefix: methods that chose the same one count together. */
  readonly sharedName: string | undefined;
  readonly limitType: LimitType;
  readonly key: string | KeyOfArguments;
  readonly params: ParameterNames | undefined;
  /** How long a call may wait for its permits; undefined: one that has to wait is refused. */
  readonly timeout: Duration | undefined;
  /** What a call takes; undefined: one permit of each policy. */
  readonly cost: CostOfCall | undefined;
}

/** Permits of every call, or a function that gives them for the arguments of one. */
// biome-ignore lint/suspicious/noExplicitAny: the arguments of whatever method is decorated
export type CostOfCall = Cost | ((...args: any[]) => Cost);

/** Returns the key of a call from its arguments. */
// biome-ignore lint/suspicious/noExplicitAny: the arguments of any decorated method
export type KeyOfArguments = (...args: any[]) => LimiterKey;

/** What limiters accept as a name. */
export const LIMITER_NAME = /^[\w.:/@#-]{1,100}$/;

const LONGEST_SECONDS = 3650 * 86_400;

/** Checks what all decorators have in common. @throws RangeError, TypeError naming the attribute and the value. */
export function commonLimit(
  decorator: string,
  { key = '', limitType: type = LimitType.METHOD, params }: CommonOptions,
  prefix: unknown,
  defaultPrefix: string,
): Omit<Limitation, 'rules' | 'timeout' | 'cost'> {
  const limitType = parseLimitType(type);
  if (typeof key !== 'string' && typeof key !== 'function') {
    throw new TypeError(`${decorator}: key must be a string or a function, not ${describe(key)}`);
  }
  if (limitType !== LimitType.CUSTOM && key !== '') {
    throw new TypeError(
      `${decorator}: key ${describe(key)} has no effect with limitType ${limitType}: use limitType 'CUSTOM' or omit key`,
    );
  }
  if (limitType === LimitType.CUSTOM) {
    if (key === '') {
      throw new TypeError(`${decorator}: limitType CUSTOM needs a key, such as '#{user.id}', not ''`);
    }
    if (typeof key === 'string') compileKey(key);
  }
  return {
    decorator,
    prefix: defaultPrefix,
    sharedName: prefix === defaultPrefix ? undefined : checkPrefix(decorator, prefix),
    limitType,
    key,
    params: params === undefined ? undefined : declaredParameterNames(decorator, params),
  };
}

/**
 * `@CountLimit` without parentheses is called with the method itself, or in the legacy dialect with a prototype, which has
 * no options to complain of: the method would be unlimited.
 */
export function checkParentheses(decorator: string, options: unknown, rest: readonly unknown[]): void {
  if (rest.length > 0 || typeof options === 'function') {
    throw new TypeError(`${decorator} needs parentheses: write ${decorator}() or ${decorator}({ … })`);
  }
}

/** Seconds as whole milliseconds. @throws RangeError */
export function milliseconds(what: string, seconds: unknown, least: 0 | 0.001): number {
  const exact = typeof seconds === 'number' ? seconds * 1000 : Number.NaN;
  const whole = Math.round(exact);
  if (!(whole >= least && whole <= LONGEST_SECONDS * 1000 && Math.abs(whole - exact) < 1e-6)) {
    throw new RangeError(
      `${what} must be a number of seconds from ${least} to ${LONGEST_SECONDS}, in whole milliseconds, ` +
        `not ${describe(seconds)}`,
    );
  }
  return whole;
}

/** The colon at the end sets a key apart in the starter; a limiter's name needs none. */
function checkPrefix(decorator: string, prefix: unknown): string {
  const name = typeof prefix === 'string' ? prefix.replace(/:$/, '') : '';
  if (!LIMITER_NAME.test(name)) {
    throw new TypeError(
      `${decorator}: prefix must be 1 to 100 letters, digits or . _ - : / @ #, the last ':' not counted, ` +
        `not ${describe(prefix)}`,
    );
  }
  return name;
}

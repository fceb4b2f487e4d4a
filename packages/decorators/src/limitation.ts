import {
  type Cost,
  type Duration,
  type EscalateOptions,
  type LimiterBaseOptions,
  type LimiterKey,
  LimitType,
  type Policy,
} from '@sluice/core';
import {
  checkOptions,
  compileEscalation,
  compileKey,
  compileKeyList,
  describe,
  isKeyList,
  isName,
  LONGEST_NAME,
  noEffect,
  parseLimitType,
} from '@sluice/core/internal';
import { declaredParameterNames } from './parameter-names.js';

/** The attributes that all decorators have. */
export interface CommonOptions {
  /**
   * The default, `'rateLimit:'`, `'countLimit:'` or `'limit:'`, gives each method its own limit. Methods with the same other prefix share
   * one limit, and should have the same numbers.
   */
  readonly prefix?: string;
  /**
   * The key of a call. Either a key expression such as `#{phone}`, `#{user.id}` or `order:#{0}`: a name is a parameter of the method,
   * otherwise a field of the current request. Or a list such as `['USER', 'IP']`: the first one counts that the call has. Or a function of the call's arguments: `(order) => order.customer`; `() => 'all'` makes all calls share one count.
   * Default `''`.
   */
  readonly key?: KeyOfCalls;
  /** What identifies the caller; default `'METHOD'`: all calls share one count. With a `key` it is `'CUSTOM'`, which may be left out. */
  readonly limitType?: LimitType;
  /** The names of the method's parameters, in their order, for code whose names a minifier shortens. */
  readonly params?: readonly string[];
  /** Blocks a key that is denied again and again, longer each time. See `EscalateOptions` of `@sluice/core`. Default: it does not. */
  readonly escalate?: EscalateOptions | undefined;
}

/** Thresholds that are published on `sluice:threshold`. */
export type NotifyOptions = NonNullable<LimiterBaseOptions['notify']>;

export type Rules = {
  readonly escalate?: EscalateOptions | undefined;
  readonly notify?: NotifyOptions | undefined;
} & ({ readonly policy: Policy } | { readonly policies: Readonly<Record<string, Policy>> });

export interface Limitation {
  /** Its name in errors: `@RateLimit`. */
  readonly decorator: string;
  readonly rules: Rules;
  /** Before `ClassName.methodName` in the limiter's name, unless `sharedName` is given. */
  readonly prefix: string;
  /** The limiter's name, if the user chose a prefix: methods with the same prefix share counts. */
  readonly sharedName: string | undefined;
  readonly limitType: LimitType;
  readonly key: KeyOfCalls;
  readonly params: readonly string[] | undefined;
  /** The longest wait for permits; undefined: no wait. */
  readonly timeout?: Duration | undefined;
  /** Undefined: one permit of each policy. */
  readonly cost?: CostOfCall | undefined;
}

/** Permits of a call, or a function that returns them from the call's arguments. */
// biome-ignore lint/suspicious/noExplicitAny: the arguments of whatever method is decorated
export type CostOfCall = Cost | ((...args: any[]) => Cost);

/** Returns the key of a call from its arguments. */
// biome-ignore lint/suspicious/noExplicitAny: the arguments of any decorated method
export type KeyOfArguments = (...args: any[]) => LimiterKey;

/** A key expression, a list of them and of limit types, or a function. */
export type KeyOfCalls = string | readonly string[] | KeyOfArguments;

const LONGEST_SECONDS = 3650 * 86_400;

const COMMON_OPTIONS = ['prefix', 'key', 'limitType', 'params', 'escalate'];

/**
 * Reads the attributes that all decorators have.
 * @param own the names of the decorator's own attributes
 * @param rest further arguments: with any of them the decorator was used without parentheses
 * @param remedies the remedy for attributes that the decorator lacks, by their names
 * @throws RangeError, TypeError naming the attribute and the value
 */
export function commonLimit(
  decorator: string,
  defaultPrefix: string,
  options: CommonOptions,
  own: readonly string[],
  rest: readonly unknown[],
  remedies: Readonly<Record<string, string>> = {},
): Omit<Limitation, 'rules'> {
  checkParentheses(decorator, options, rest);
  checkOptions(decorator, options, [...own, ...COMMON_OPTIONS], remedies);
  const { prefix = defaultPrefix, key = '', params, escalate } = options;
  if (escalate !== undefined) compileEscalation(decorator, escalate);
  const { limitType: given = key === '' ? LimitType.METHOD : LimitType.CUSTOM } = options;
  const limitType = parseLimitType(given);
  if (limitType !== LimitType.CUSTOM && key !== '') {
    if (typeof key !== 'string') checkKey(decorator, key);
    const why = `with limitType ${limitType}: omit limitType to count by the key, or omit key`;
    throw noEffect(decorator, `key ${describe(key)}`, why);
  }
  if (limitType === LimitType.CUSTOM) {
    if (key === '') {
      throw new TypeError(`${decorator}: limitType CUSTOM needs a key, such as '#{user.id}', not ''`);
    }
    checkKey(decorator, key);
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

/** @throws RangeError, TypeError */
export function checkKey(decorator: string, key: KeyOfCalls): void {
  if (isKeyList(key)) compileKeyList(`${decorator}: key`, key);
  else if (typeof key === 'string') compileKey(key);
  else if (typeof key !== 'function') {
    throw new TypeError(
      `${decorator}: key must be a string, a list of keys or a function, not ${describe(key)}`,
    );
  }
}

/**
 * Without parentheses, `@CountLimit` receives the method, or in the legacy dialect a prototype, as its options. No option would be
 * invalid, and the method would have no limit.
 */
export function checkParentheses(
  decorator: string,
  options: unknown,
  rest: readonly unknown[],
  example = '{ … }',
): void {
  if (rest.length > 0 || typeof options === 'function') {
    throw new TypeError(`${decorator} needs parentheses: write ${decorator}() or ${decorator}(${example})`);
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

/** Removes a colon at the end: the Spring starter's prefixes have one, limiter names do not need it. */
function checkPrefix(decorator: string, prefix: unknown): string {
  const name = typeof prefix === 'string' ? prefix.replace(/:$/, '') : '';
  if (!isName(name)) {
    throw new TypeError(
      `${decorator}: prefix must be 1 to ${LONGEST_NAME} letters, digits or . _ - : / @ #, the last ':' not counted, ` +
        `not ${describe(prefix)}`,
    );
  }
  return name;
}

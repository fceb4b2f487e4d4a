import { isPromise, type MaybePromise } from '../maybe-promise.js';
import { checkOneOf, describe } from '../options.js';
import { compileKey, type KeyTemplate } from './key-expression.js';

/**
 * What a limit counts by.
 * - `IP`: one count per client address.
 * - `USER`: one count per signed-in user.
 * - `METHOD`: one count for all calls of the method (`ClassName.methodName`).
 * - `CUSTOM`: one count per value of a key expression such as `#{user.id}`.
 */
export const LimitType = { IP: 'IP', USER: 'USER', METHOD: 'METHOD', CUSTOM: 'CUSTOM' } as const;
export type LimitType = (typeof LimitType)[keyof typeof LimitType];

/** Checks a limit type from configuration. @throws RangeError unless it is exactly `IP`, `USER`, `METHOD` or `CUSTOM` */
export const parseLimitType = (value: unknown): LimitType =>
  checkOneOf('limitType', value, Object.values(LimitType));

/** One key of a list. */
export interface ListedKey {
  /** As written: `USER`, `IP`, `METHOD` or a template. */
  readonly source: string;
  /** Undefined for a limit type. */
  readonly template: KeyTemplate | undefined;
  /** Begins the keys of requests that have it: a user and an address of the same text are two keys. */
  readonly prefix: string;
}

/** An entry of a list that is not acceptable. */
export class KeyListError extends RangeError {
  constructor(
    message: string,
    /** Of the entry; undefined if the list as a whole is wrong. */
    readonly index: number | undefined,
  ) {
    super(message);
  }
}

const MOST = 5;
/** What each call has: a key after it would never be used. */
const ALWAYS: Readonly<Record<string, string>> = {
  IP: 'every request has an address',
  METHOD: "'METHOD' is a key of all",
};

const WORDS: readonly unknown[] = [LimitType.USER, LimitType.IP, LimitType.METHOD];

/** A key that is a limit type instead of a template. */
export const isKeyWord = (key: unknown): key is 'USER' | 'IP' | 'METHOD' => WORDS.includes(key);

export const isKeyList = (key: unknown): key is readonly string[] => Array.isArray(key);

/** A key as the processes of a store publish it: `USER, IP` for a list. */
export const keyText = (key: string | readonly string[]): string => (isKeyList(key) ? key.join(', ') : key);

/**
 * Compiles a list such as `['USER', 'IP']`, of which the first key counts that a request has.
 * @param where how errors name the list, such as `rateLimit: key`
 * @throws KeyListError, a RangeError; TypeError, RangeError for a malformed template
 */
export function compileKeyList(where: string, list: readonly string[]): readonly ListedKey[] {
  if (list.length < 2 || list.length > MOST) {
    throw new KeyListError(
      `${where}: a list of keys has 2 to ${MOST} of them, not ${list.length}`,
      undefined,
    );
  }
  const keys: ListedKey[] = [];
  for (const [index, source] of list.entries()) {
    const refuse = (problem: string) => {
      throw new KeyListError(`${where}: ${problem}`, index);
    };
    if (typeof source !== 'string') refuse(`a key must be a string such as 'IP', not ${describe(source)}`);
    const isWord = isKeyWord(source);
    if (!isWord && isKeyWord(source.toUpperCase())) {
      refuse(`${describe(source)} is not a key; write '${source.toUpperCase()}'`);
    }
    const always = ALWAYS[source];
    if (always !== undefined && index < list.length - 1) {
      refuse(`'${source}' must be the last key of a list: ${always}, so the keys after it would never count`);
    }
    const template = isWord ? undefined : compileKey(source);
    const prefix = `${template?.valueNames ?? source.toLowerCase()}:`;
    const same = keys.find((key) => key.prefix === prefix);
    if (same !== undefined) {
      refuse(
        `${describe(source)} never counts, because ${describe(same.source)} before it has the same value`,
      );
    }
    keys.push({ source, template, prefix });
  }
  return keys;
}

/**
 * Reads the first key of a list that a call has.
 * @param readerOf makes what reads one key: undefined if the call does not have it. The last key of a list throws instead
 */
export function firstKey<Args extends readonly unknown[]>(
  keys: readonly ListedKey[],
  readerOf: (key: ListedKey, isLast: boolean) => (...args: Args) => MaybePromise<string | undefined>,
): (...args: Args) => MaybePromise<string> {
  const readers = keys.map((key, i) => readerOf(key, i === keys.length - 1));
  const from = (first: number, args: Args): MaybePromise<string> => {
    for (let i = first; ; i += 1) {
      const { prefix } = keys[i]!;
      const key = readers[i]!(...args);
      if (isPromise(key))
        return key.then((found) => (found === undefined ? from(i + 1, args) : prefix + found));
      if (key !== undefined) return prefix + key;
    }
  };
  return (...args) => from(0, args);
}

// Reads JSON that other programs may have written, such as texts in a shared Redis. A form declares what each field must be. What it
// refuses is an Error whose message completes a sentence about the text: `its host cannot be read`.

import { isRecord } from '@sluice/core/internal';

/** Checks a value and returns it. @param what names it in the error */
export type Reader<T> = (given: unknown, what: string) => T;

/** Names of limiters, policies and members. A combination may have the names of its members. */
export const NAME = /^[\w.:/@#+-]{1,2100}$/;
/** A version of a package. */
export const VERSION_TEXT = /^[\w.+-]{1,50}$/;
/** A host as `publishedHost` writes it. */
export const HOST = /^[!-~]{0,255}$/;
/** The largest moment that a `Date` has, ms. */
export const LATEST = 8.64e15;
/** Sums of many numbers below stay finite. */
const MOST_NUMBER = 1e30;

const unreadable = (what: string): Error => new Error(`its ${what} cannot be read`);

/**
 * Reads a JSON object.
 * @param most characters
 * @param form of the texts that this version writes, if they have a `form`
 * @throws Error that says what is wrong
 */
export function readText<T>(text: string, most: number, read: Reader<T>, form?: number): T {
  if (text.length > most) throw new Error(`it has ${text.length} characters`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
  if (form !== undefined) checkForm(objectOf(value, 'fields').form, form);
  return read(value, 'fields');
}

function checkForm(form: unknown, known: number): void {
  if (form === known) return;
  const isNewer = typeof form === 'number' && form > known;
  throw new Error(
    isNewer ? `it has form ${form}, and this version reads form ${known}: update it` : 'it has no known form',
  );
}

function objectOf(given: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isRecord(given)) throw unreadable(what);
  return given;
}

/** An object with these fields, in their order. Others are left out. An error names the field. */
export const fields =
  <T>(readers: { readonly [K in keyof T]-?: Reader<T[K]> }): Reader<T> =>
  (given, what) => {
    const object = objectOf(given, what);
    const entries = Object.entries<Reader<unknown>>(readers);
    return Object.fromEntries(entries.map(([name, read]) => [name, read(object[name], name)])) as T;
  };

/** An object whose names may be any, also `__proto__`. */
export const map =
  <T>(read: Reader<T>, names: RegExp): Reader<Readonly<Record<string, T>>> =>
  (given, what) => {
    const entries = Object.entries(objectOf(given, what));
    return Object.fromEntries(entries.map(([name, value]) => [text(names)(name, what), read(value, what)]));
  };

export const list =
  <T>(read: Reader<T>, most = Number.POSITIVE_INFINITY): Reader<readonly T[]> =>
  (given, what) => {
    if (!Array.isArray(given) || given.length > most) throw unreadable(what);
    return given.map((one) => read(one, what));
  };

export const text =
  (form?: RegExp): Reader<string> =>
  (given, what) => {
    if (typeof given !== 'string' || form?.test(given) === false) throw unreadable(what);
    return given;
  };

export const oneOf =
  <T>(...known: readonly T[]): Reader<T> =>
  (given, what) => {
    if (!known.includes(given as T)) throw unreadable(what);
    return given as T;
  };

/** A number from 0 to `most`. */
export const number =
  (most = MOST_NUMBER): Reader<number> =>
  (given, what) => {
    if (typeof given !== 'number' || !(given >= 0 && given <= most)) throw unreadable(what);
    return given;
  };

export const whole =
  (most = Number.MAX_SAFE_INTEGER): Reader<number> =>
  (given, what) => {
    if (!Number.isInteger(given)) throw unreadable(what);
    return number(most)(given, what);
  };

/** A text or a finite number. */
export const textOrNumber: Reader<string | number> = (given, what) =>
  typeof given === 'number' && Number.isFinite(given) ? given : text()(given, what);

/** The first reader that accepts the value. */
export const either =
  <A, B>(first: Reader<A>, second: Reader<B>): Reader<A | B> =>
  (given, what) => {
    try {
      return first(given, what);
    } catch {
      return second(given, what);
    }
  };

/** Undefined for a field that is absent. */
export const optional =
  <T>(read: Reader<T>): Reader<T | undefined> =>
  (given, what) =>
    given === undefined ? undefined : read(given, what);

/** What `read` returns, if it fulfils a condition. @param name in the error, instead of `what` */
export const checked =
  <T>(read: Reader<T>, isValid: (value: T) => boolean, name?: string): Reader<T> =>
  (given, what) => {
    const value = read(given, what);
    if (!isValid(value)) throw unreadable(name ?? what);
    return value;
  };

/** Errors name the whole value, also for a part of it. */
export const asOne =
  <T>(read: Reader<T>): Reader<T> =>
  (given, what) => {
    try {
      return read(given, what);
    } catch {
      throw unreadable(what);
    }
  };

/** A list whose items differ in what `by` returns. */
export const distinct = <T>(read: Reader<readonly T[]>, by: (item: T) => unknown): Reader<readonly T[]> =>
  checked(read, (items) => new Set(items.map(by)).size === items.length);

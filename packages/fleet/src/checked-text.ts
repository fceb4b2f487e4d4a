// Reads JSON that other programs may have written, such as texts in a shared Redis. Each function checks what it returns, and otherwise throws an
// Error whose message completes a sentence about the text: `its host cannot be read`.

export type Fields = Readonly<Record<string, unknown>>;

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

export const unreadable = (what: string): Error => new Error(`its ${what} cannot be read`);

/** The fields of a JSON object. @param most characters */
export function parseFields(text: string, most: number): Fields {
  if (text.length > most) throw new Error(`it has ${text.length} characters`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
  return fieldsOf('fields', value);
}

/** @param known the form that this version writes */
export function checkForm(form: unknown, known: number): void {
  if (form === known) return;
  const isNewer = typeof form === 'number' && form > known;
  throw new Error(
    isNewer ? `it has form ${form}, and this version reads form ${known}: update it` : 'it has no known form',
  );
}

export function fieldsOf(what: string, given: unknown): Fields {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw unreadable(what);
  return given as Fields;
}

/** An object whose names may be any, also `__proto__`. */
export function mapOf<T>(
  what: string,
  given: unknown,
  form: RegExp,
  read: (value: unknown) => T,
): Readonly<Record<string, T>> {
  const entries = Object.entries(fieldsOf(what, given));
  return Object.fromEntries(entries.map(([name, value]) => [textOf(what, name, form), read(value)]));
}

export function listOf(what: string, given: unknown, most = Number.POSITIVE_INFINITY): readonly unknown[] {
  if (!Array.isArray(given) || given.length > most) throw unreadable(what);
  return given;
}

export function textOf(what: string, given: unknown, form?: RegExp): string {
  if (typeof given !== 'string' || form?.test(given) === false) throw unreadable(what);
  return given;
}

export function oneOf<T>(what: string, given: unknown, known: readonly T[]): T {
  if (!known.includes(given as T)) throw unreadable(what);
  return given as T;
}

/** A number from 0 to `most`. */
export function numberOf(what: string, given: unknown, most = MOST_NUMBER): number {
  if (typeof given !== 'number' || !(given >= 0 && given <= most)) throw unreadable(what);
  return given;
}

export function wholeOf(what: string, given: unknown, most = Number.MAX_SAFE_INTEGER): number {
  if (!Number.isInteger(given)) throw unreadable(what);
  return numberOf(what, given, most);
}

/** A text or a finite number. */
export function textOrNumber(what: string, given: unknown): string | number {
  return typeof given === 'number' && Number.isFinite(given) ? given : textOf(what, given);
}

/** @returns undefined for a field that is absent */
export const optional = <T>(given: unknown, read: (given: unknown) => T): T | undefined =>
  given === undefined ? undefined : read(given);

import { KeyResolutionError } from '../errors.js';

/** The counted thing: a user's id, an address, a phone number, or one word for all calls. */
export type LimiterKey = string | number | bigint | boolean;

/**
 * Converts a value to the text of a key. A string stays as it is; a finite number, a bigint and a boolean become their usual text, so 7
 * and '7' are the same key, and -0 is '0'.
 *
 * Other values are refused: different callers would share their text (`[object Object]`, `undefined`, the empty string), or a client could
 * choose it (`?phone[]=a` arrives as an array).
 * @param what names the value in errors, such as `#{user.id}` or `the user id`
 * @param expression the error's `expression`; default `what`
 * @throws KeyResolutionError naming `what` and the kind of the value, never the value
 */
export function keyPart(value: unknown, what: string, expression: string = what): string {
  switch (typeof value) {
    case 'string':
      if (value !== '') return value;
      break;
    case 'number':
      if (Number.isFinite(value)) return String(value);
      break;
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
  }
  throw new KeyResolutionError(
    `${what} ${problem(value)}; a key needs a string, a finite number, a bigint or a boolean`,
    expression,
  );
}

function problem(value: unknown): string {
  if (value === undefined) return 'is missing (undefined)';
  if (value === null) return 'is null';
  if (value === '') return 'is an empty string';
  if (typeof value === 'number') return `is ${value}`;
  if (typeof value === 'object') return Array.isArray(value) ? 'is an array' : 'is an object';
  return `is a ${typeof value}`;
}

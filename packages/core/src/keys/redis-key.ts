import { sha256 } from '#platform';
import { KeyResolutionError } from '../errors.js';

const MAX_BYTES = 128;
/** V8 copies shorter slices; from this length on a slice is a view that keeps the whole parent string alive. */
const SHORTEST_VIEW = 13;
const UNSAFE = /[^A-Za-z0-9._~@+=,/:-]/;
const ALL_UNSAFE = /[^A-Za-z0-9._~@+=,/:-]/gu;
const RESERVED = /[~:/|;# ]/;
const ALL_RESERVED = /[~:/|;# ]/g;
const SEPARATOR = /[:/|;# ]/;

const hex = (code: number): string => code.toString(16).toUpperCase().padStart(2, '0');
const ASCII = Array.from({ length: 0x80 }, (_, code) => `%${hex(code)}`);

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

/**
 * Encodes any string as the last part of a Redis key, or as a key of any other store.
 *
 * - Different keys stay different, whatever they contain: lone surrogates (`%uD800`), NUL, U+FFFD.
 * - The result is 1 to 128 characters of `A-Z a-z 0-9 . _ ~ @ + = , / : - %`: no space, control character, glob character or brace, so it
 *   cannot choose a cluster slot or end the braces that a storage key puts around it.
 * - Other characters become `%XX` per UTF-8 byte; the empty string becomes `%empty`.
 * - A result above 128 bytes becomes `%sha256-` and the base64url digest of the whole original key.
 * - The result shares no memory with the string from which the key was cut.
 */
export function encodeKey(key: string): string {
  return detach(encodeKeyView(key));
}

/** `encodeKey` for a lookup: the result may be a view of a longer string. Call `detach` before you keep it. */
export function encodeKeyView(key: string): string {
  if (key === '') return '%empty';
  if (key.length > MAX_BYTES) return digest(key); // every UTF-16 unit becomes at least one byte
  if (!UNSAFE.test(key)) return key; // faster than a loop over the characters, unless there are fewer than ten
  const encoded = key.replace(ALL_UNSAFE, percent);
  return encoded.length > MAX_BYTES ? digest(key) : encoded;
}

/** The key that `encodeKey` encoded; undefined for a digest, which hides the key, and for texts that `encodeKey` does not return. */
export function decodeKey(encoded: string): string | undefined {
  if (encoded === '%empty') return '';
  const key = encoded.replace(/%u([0-9A-F]{4})|((?:%[0-9A-F]{2})+)/g, (_, unit?: string, bytes?: string) => {
    if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
    return utf8(bytes!);
  });
  return encodeKey(key) === encoded ? key : undefined;
}

function utf8(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch {
    return ''; // not from `encodeKey`, so the check above fails
  }
}

/**
 * Encodes one of several values of a key: `~ : / | ; #` and space become `~XX`, so such a character in the whole key is a separator.
 * `encodeKey` does not encode `~`, so nothing is encoded twice.
 */
export function encodePart(value: string): string {
  if (!RESERVED.test(value)) return value; // half the cost of a replace that finds nothing
  return value.replace(ALL_RESERVED, (char) => `~${hex(char.charCodeAt(0))}`);
}

/** Does a text contain a character that no encoded part contains, so that it separates two parts? */
export const separates = (text: string): boolean => SEPARATOR.test(text);

/**
 * A copy that keeps no longer string alive: an id cut from a 16 kB header would otherwise hold all 16 kB as long as a store keeps the id.
 * Call it once for a kept key that did not come from `encodeKey`.
 */
export function detach(key: string): string {
  // V8 copies a concatenation before it slices it; a third of the cost of a copy through a Buffer.
  return key.length < SHORTEST_VIEW ? key : ` ${key}`.slice(1);
}

function percent(char: string): string {
  const code = char.codePointAt(0) as number;
  if (code < 0x80) return ASCII[code] as string;
  // UTF-8 cannot express a lone surrogate: Redis would get U+FFFD for all 2,048 of them.
  if (code >= 0xd800 && code <= 0xdfff) return `%u${hex(code)}`;
  return encodeURIComponent(char);
}

function digest(key: string): string {
  // UTF-16 keeps every JavaScript string distinct, also those that have no UTF-8 form.
  return `%sha256-${sha256(key, 'utf16le')}`;
}

/** Characters of a hashed key. */
export const HASH_LENGTH = 17;

/**
 * A key for logs and reports that should not name the caller: `#` and 16 characters. The same key gives the same text in every process.
 * A key that can be guessed, such as an address, can be found from its hash.
 * @param key as it is stored
 */
export const hashStoredKey = (key: string): string => `#${sha256(key, 'utf8').slice(0, HASH_LENGTH - 1)}`;

/**
 * A key as `topKeys`, `readUsage` and `logDenials` show it with `keys: 'hash'`, so that you can find a given key there.
 * @throws KeyResolutionError for an invalid key
 */
export const hashKey = (key: LimiterKey): string =>
  hashStoredKey(encodeKey(keyPart(key, 'hashKey: the key')));

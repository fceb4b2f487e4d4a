import { sha256 } from '#platform';
import { keyPart, type LimiterKey } from './key-part.js';
import { encodeKey } from './redis-key.js';

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

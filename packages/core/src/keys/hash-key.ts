import { hashStoredKey } from '../hash-key.js';
import { keyPart, type LimiterKey } from './key-part.js';
import { encodeKey } from './redis-key.js';

/**
 * A key as `topKeys`, `readUsage` and `logDenials` show it with `keys: 'hash'`, so that you can find a given key there.
 * @throws KeyResolutionError for an invalid key
 */
export const hashKey = (key: LimiterKey): string =>
  hashStoredKey(encodeKey(keyPart(key, 'hashKey: the key')));

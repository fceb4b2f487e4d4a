import { createHash } from 'node:crypto';
import type { Keys } from '../key-of-request.js';
import type { PartitionOf } from './draft-11.js';

/**
 * The parameter `pk`: the first 12 bytes of the SHA-256 of the key, as an RFC 9651 byte sequence. Of several limits each has
 * that of its own key.
 */
export function partitionOf(keys: Keys): PartitionOf {
  if (typeof keys !== 'object') {
    const same = parameter(String(keys));
    return () => same;
  }
  const limits = Object.keys(keys);
  return (policy) => {
    // A limit with several policies calls them perAccount.perMinute, perAccount.perDay.
    const limit = Object.hasOwn(keys, policy) ? policy : limits.find((one) => policy.startsWith(`${one}.`));
    return limit === undefined ? '' : parameter(String(keys[limit]));
  };
}

const parameter = (text: string): string =>
  `;pk=:${createHash('sha256').update(text).digest().subarray(0, 12).toString('base64')}:`;

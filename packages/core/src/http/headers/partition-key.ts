import { createHash } from 'node:crypto';
import type { LimiterKey } from '../../limiter.js';
import type { PartitionOf } from './draft-11.js';

/** Whom a decision is about: a key, several, or a key for each limit by the limit's name. */
export type PartitionKeys = LimiterKey | readonly LimiterKey[] | Readonly<Record<string, LimiterKey>>;

/**
 * The parameter `pk`: the first 12 bytes of the SHA-256 of the key, as an RFC 9651 byte sequence. Of several keys, each is
 * preceded by its length in bytes and a colon, so that ('a', 'bc') is not ('ab', 'c').
 */
export function partitionOf(keys: PartitionKeys): PartitionOf {
  if (typeof keys !== 'object') return constant(parameter(String(keys)));
  if (isList(keys)) {
    return constant(keys.length === 1 ? parameter(String(keys[0])) : parameter(keys.map(counted).join('')));
  }
  const limits = Object.keys(keys);
  return (policy) => {
    // A limit with several policies calls them perAccount.perMinute, perAccount.perDay.
    const limit = Object.hasOwn(keys, policy) ? policy : limits.find((one) => policy.startsWith(`${one}.`));
    return limit === undefined ? '' : parameter(String(keys[limit]));
  };
}

const constant =
  (text: string): PartitionOf =>
  () =>
    text;
const isList = (keys: object): keys is readonly LimiterKey[] => Array.isArray(keys);
const counted = (key: LimiterKey) => `${Buffer.byteLength(String(key))}:${key}`;

const parameter = (text: string): string =>
  `;pk=:${createHash('sha256').update(text).digest().subarray(0, 12).toString('base64')}:`;

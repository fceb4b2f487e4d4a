import { clientIp } from '@sluice/core';
import { getOrCreate } from '@sluice/core/internal';
import { type Call, EMPTY_REQUEST } from './decider.js';
import { BadCall } from './errors.js';

/** `envoy.service.ratelimit.v3.RateLimitRequest`; a field that was not sent is undefined. */
export interface RateLimitRequest {
  readonly domain?: string;
  readonly descriptors?: readonly Descriptor[];
  readonly hitsAddend?: number;
}

interface Descriptor {
  readonly entries?: readonly { readonly key?: string; readonly value?: string }[];
  readonly limit?: object;
  readonly hitsAddend?: { readonly value?: number };
  readonly isNegativeHits?: boolean;
}

// Numbers of descriptors and entries are those of Envoy's configuration; its clients choose values only.
const MOST_DESCRIPTORS = 100;
const MOST_ENTRIES = 32;

/**
 * The requests that stand for the descriptors: the domain is the host, the keys are the path, the entries are the query, and
 * `remote_address` is the client. The headers are the entries of all descriptors together.
 * @throws BadCall
 */
export function callsOf({ domain = '', descriptors = [], hitsAddend = 0 }: RateLimitRequest): Call[] {
  const { length } = descriptors;
  if (domain === '') throw new BadCall('the domain is empty');
  if (length === 0) throw new BadCall('there are no descriptors');
  if (length > MOST_DESCRIPTORS) throw new BadCall(`${length} descriptors: send at most ${MOST_DESCRIPTORS}`);
  const all = new Map<string, Set<string>>();
  const calls = descriptors.map((descriptor) => {
    const { query, path } = entriesOf(descriptor, all);
    const cost =
      descriptor.hitsAddend === undefined ? hitsAddend || undefined : costOf(descriptor.hitsAddend);
    return {
      ...EMPTY_REQUEST,
      path,
      query: Object.fromEntries(query),
      ip: addressOf(query.get('remote_address')),
      cost,
    };
  });
  const texts = [...all].map(([name, values]) => [name, values.size === 1 ? [...values][0] : [...values]]);
  const headers = { ...Object.fromEntries(texts), host: domain };
  return calls.map((call) => ({ ...call, headers }));
}

/** A cost of 64 bits: the largest that can be counted is above every limit, too. */
const costOf = ({ value = 0 }: { readonly value?: number }): number =>
  Math.min(value, Number.MAX_SAFE_INTEGER);

/**
 * Values that are no address count together. A call that fails would pass: Envoy passes it, and its client can write the header of which
 * Envoy makes the value.
 */
function addressOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  try {
    clientIp(value);
    return value;
  } catch {
    return '::';
  }
}

/** @param all gets the values of the entries, by names in lower case */
function entriesOf({ entries = [], limit, isNegativeHits }: Descriptor, all: Map<string, Set<string>>) {
  const { length } = entries;
  if (length === 0) throw new BadCall('a descriptor has no entries');
  if (length > MOST_ENTRIES)
    throw new BadCall(`a descriptor has ${length} entries: send at most ${MOST_ENTRIES}`);
  if (limit !== undefined) throw new BadCall('a descriptor has a limit of its own: limits are in the rules');
  if (isNegativeHits) throw new BadCall('a descriptor has is_negative_hits: permits cannot be given back');
  const query = new Map<string, string>();
  let path = '';
  for (const { key = '', value: given } of entries) {
    // A key of an empty value is an error, and Envoy passes calls that fail: its client could send an empty header.
    const value = given || '(empty)';
    // `:` and `*` would be a pattern, not this key.
    path += `/${key.replace(/[%/:*]/g, '_')}`;
    let name = key;
    for (let n = 2; query.has(name); n += 1) name = `${key}_${n}`;
    query.set(name, value);
    getOrCreate(all, key.toLowerCase(), () => new Set()).add(value);
  }
  return { query, path };
}

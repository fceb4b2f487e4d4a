import { clientIp, isKeyResolutionError, type LimiterKey } from '@sluice/core';
import { addressFamily, describe, groupsOf } from '@sluice/core/internal';

/** Malformed IPv4 addresses and ranges, which are no keys: `10.0.0.0/33`, `1.2.3`, `10.0.*.*`, `10.0.0.1-9`, `10/8`. */
const LIKE_IPV4 = /^\d[\d.*:/-]*\.[\d.*:/-]*$|^\d+\/\d+$/;
/** The same for IPv6: groups with `::`, with a prefix length, or with at least six colons: `2001:db8::/129`. */
const LIKE_IPV6 = /^\[?[\da-f:.]*(?:::|:[\da-f:.]*\/|(?:[\da-f]*:){6})/i;
const LONGEST_ADDRESS = 60;
const PREFIX_LENGTH = /^(?:0|[1-9]\d{0,2})$/;
const WHOLE_ADDRESS = { ipv6Subnet: 128 };

/**
 * Compiles an `allowList` or `denyList`. An address (`192.0.2.7`, `2001:db8::1`) and a range (`10.0.0.0/8`, `2001:db8::/32`) match the
 * bits of the client's address in any spelling; IPv4-mapped IPv6 is IPv4. Other entries match keys of the same text. A missing or
 * malformed client address is in no range.
 * @returns whether the client's address, or one of the request's keys, is on the list
 * @throws TypeError naming a malformed entry, also one that only looks like an address or a range
 */
export function compileList(where: string, entries: readonly string[]) {
  if (!Array.isArray(entries))
    throw new TypeError(`${where} must be an array of strings or a function, not ${describe(entries)}`);
  const ranges = new AddressRanges();
  const listedKeys = new Set<string>();
  for (const entry of entries as readonly unknown[]) {
    if (typeof entry !== 'string' || entry === '')
      throw new TypeError(`${where}: an entry must be a non-empty string, not ${describe(entry)}`);
    if (ranges.add(entry)) continue;
    const text = entry.trim();
    if (text.length <= LONGEST_ADDRESS && (LIKE_IPV4.test(text) || LIKE_IPV6.test(text)))
      throw new TypeError(`${where}: ${noRange(entry)}. To list a key that looks like one, pass a function`);
    listedKeys.add(entry);
  }
  return (ip: string | undefined, keys: readonly LimiterKey[]): boolean =>
    (listedKeys.size > 0 && keys.some((key) => listedKeys.has(String(key)))) || ranges.has(ip);
}

/** All addresses whose first bits are those of `groups`: two 16-bit groups of IPv4, or eight of IPv6. */
interface Range {
  readonly groups: readonly number[];
  readonly bits: number;
}

/** Addresses and ranges of both families. IPv4-mapped IPv6 is IPv4. */
export class AddressRanges {
  readonly #ranges: Range[] = [];

  /** Adds `192.0.2.7`, `10.0.0.0/8`, `2001:db8::1` or `2001:db8::/32`. @returns false if the entry is none of them */
  add(entry: string): boolean {
    const slash = entry.indexOf('/');
    const written = slash < 0 ? entry : entry.slice(0, slash);
    const groups = addressFamily(written) === 0 ? undefined : canonical(written);
    if (groups === undefined) return false;
    const all = 16 * groups.length;
    const length = slash < 0 ? String(all) : entry.slice(slash + 1);
    // A mapped range, ::ffff:10.0.0.0/104, is the IPv4 range of its last 32 bits.
    const bits = Number(length) - (slash >= 0 && written.includes(':') && all === 32 ? 96 : 0);
    if (!PREFIX_LENGTH.test(length) || bits < 0 || bits > all) return false;
    this.#ranges.push({ groups, bits });
    return true;
  }

  /** Is the address of a client in one of them? A missing or malformed one is not. */
  has(ip: string | undefined): boolean {
    if (this.#ranges.length === 0) return false;
    const address = canonical(ip);
    return address !== undefined && this.#ranges.some((range) => isIn(range, address));
  }
}

function isIn({ groups, bits }: Range, address: readonly number[]): boolean {
  if (groups.length !== address.length) return false;
  for (let at = 0, left = bits; left > 0; at += 1, left -= 16)
    if ((groups[at]! ^ address[at]!) >>> Math.max(0, 16 - left) !== 0) return false;
  return true;
}

function canonical(ip: string | undefined): readonly number[] | undefined {
  if (ip === undefined || ip === '') return undefined;
  try {
    return groupsOf(clientIp(ip, WHOLE_ADDRESS).replace(/\/.*/, ''));
  } catch (error) {
    if (isKeyResolutionError(error)) return undefined; // no address
    throw error;
  }
}

/** What is wrong with a malformed entry. */
export const noRange = (entry: string): string =>
  `${describe(entry)} is not an address or a range; write them as 192.0.2.7, 10.0.0.0/8, 2001:db8::1 ` +
  'or 2001:db8::/32, without a port';

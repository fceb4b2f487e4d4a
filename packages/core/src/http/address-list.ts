import { BlockList, isIP } from 'node:net';
import { isKeyResolutionError } from '../errors.js';
import { clientIp } from '../keys/client-ip.js';
import type { LimiterKey } from '../keys/key-part.js';
import { describe } from '../options.js';

/** Is the client's address, or one of the request's keys, on the list? */
export type ListCheck = (ip: string | undefined, keys: readonly LimiterKey[]) => boolean;

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
 * @param where how errors name the list, such as `rateLimit: allowList`
 * @throws TypeError naming a malformed entry, also one that only looks like an address or a range
 */
export function compileList(where: string, entries: readonly string[]): ListCheck {
  if (!Array.isArray(entries)) {
    throw new TypeError(`${where} must be an array of addresses, ranges and keys, not ${describe(entries)}`);
  }
  const ranges = new AddressRanges();
  const listedKeys = new Set<string>();
  for (const entry of entries as readonly unknown[]) {
    if (typeof entry !== 'string' || entry === '') {
      throw new TypeError(`${where}: an entry must be a non-empty string, not ${describe(entry)}`);
    }
    if (!ranges.add(entry)) {
      if (looksLikeAddress(entry)) throw malformed(where, entry);
      listedKeys.add(entry);
    }
  }
  return (ip, keys) =>
    (listedKeys.size > 0 && keys.some((key) => listedKeys.has(String(key)))) || ranges.has(ip);
}

/** Addresses and ranges of both families. IPv4-mapped IPv6 is IPv4. */
export class AddressRanges {
  // Separate lists: Node finds IPv4 addresses in IPv6 ranges that contain ::ffff:0:0/96.
  readonly #ranges = { ipv4: new BlockList(), ipv6: new BlockList() };
  #isEmpty = true;

  /** Adds `192.0.2.7`, `10.0.0.0/8`, `2001:db8::1` or `2001:db8::/32`. @returns false if the entry is none of them */
  add(entry: string): boolean {
    const slash = entry.indexOf('/');
    const written = slash < 0 ? entry : entry.slice(0, slash);
    const address = isIP(written) === 0 ? undefined : canonical(written);
    if (address === undefined) return false;
    const { host, family } = address;
    if (slash < 0) {
      this.#ranges[family].addAddress(host, family);
    } else {
      const length = entry.slice(slash + 1);
      // A mapped range, ::ffff:10.0.0.0/104, is the IPv4 range of its last 32 bits.
      const bits = Number(length) - (written.includes(':') && family === 'ipv4' ? 96 : 0);
      if (!PREFIX_LENGTH.test(length) || bits < 0 || bits > (family === 'ipv4' ? 32 : 128)) return false;
      this.#ranges[family].addSubnet(host, bits, family);
    }
    this.#isEmpty = false;
    return true;
  }

  /** Is the address of a client in one of them? A missing or malformed one is not. */
  has(ip: string | undefined): boolean {
    if (this.#isEmpty) return false;
    const address = canonical(ip);
    return address !== undefined && this.#ranges[address.family].check(address.host, address.family);
  }
}

function canonical(ip: string | undefined): { host: string; family: 'ipv4' | 'ipv6' } | undefined {
  if (ip === undefined || ip === '') return undefined;
  try {
    const client = clientIp(ip, WHOLE_ADDRESS);
    const slash = client.indexOf('/');
    return slash < 0 ? { host: client, family: 'ipv4' } : { host: client.slice(0, slash), family: 'ipv6' };
  } catch (error) {
    if (isKeyResolutionError(error)) return undefined;
    throw error;
  }
}

function looksLikeAddress(entry: string): boolean {
  const text = entry.trim();
  return text.length <= LONGEST_ADDRESS && (LIKE_IPV4.test(text) || LIKE_IPV6.test(text));
}

/** What is wrong with a malformed entry. */
export const noRange = (entry: string): string =>
  `${describe(entry)} is not an address or a range; write them as 192.0.2.7, 10.0.0.0/8, 2001:db8::1 ` +
  'or 2001:db8::/32, without a port';

const malformed = (where: string, entry: string) =>
  new TypeError(`${where}: ${noRange(entry)}. To list a key that looks like one, pass a function`);

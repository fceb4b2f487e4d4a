import ipaddr from 'ipaddr.js';
import { KeyResolutionError } from '../errors.js';
import { checkInteger, describe } from '../options.js';
import { detach } from './redis-key.js';

/** The option of `clientIp`. */
export interface ClientIpOptions {
  /**
   * IPv6 prefix length that counts as one client, 32 to 128. Default 64: a customer has at least such a network, and must not get
   * a new limit for each of its 2^64 addresses. 56 or 48 is stricter.
   */
  readonly ipv6Subnet?: number | undefined;
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
// No leading zeros, which some programs read as octal: this form is canonical, so it can be the key.
const IPV4 = new RegExp(`^${OCTET}\\.${OCTET}\\.${OCTET}\\.${OCTET}$`);
const IPV4_WITH_PORT = /^([\d.]+):\d{1,5}$/;
const MAPPED = '::ffff:';
const BRACKETED = /^\[([^\]]*)\](?::\d{1,5})?$/;
/** No address is longer: `[`, 45 characters, `%` and a zone, `]:65535`. */
const MAX_LENGTH = 128;

/**
 * The limiter key of a client address: IPv4 as `1.2.3.4`, IPv6 as its network, such as `2001:db8:1:2::/64`. Every spelling of an address
 * gives the same key: IPv4-mapped IPv6 (`::ffff:1.2.3.4`, `::ffff:102:304`) is IPv4, and ports (`1.2.3.4:5678`, `[2001:db8::1]:443`) and
 * zones (`fe80::1%eth0`) are dropped. Tunnel formats (6to4, NAT64) are ordinary IPv6.
 *
 * Pass the framework's own result (`req.ip`, `request.ip`, `ctx.ip`) with a correct trust-proxy setting, never `X-Forwarded-For`, which
 * the client writes.
 * @throws KeyResolutionError without an address, and for text that is none, such as `127.1` and `0x7f000001`
 * @throws RangeError unless `ipv6Subnet` is a whole number from 32 to 128
 */
export function clientIp(address: string | undefined, options?: ClientIpOptions): string {
  const subnet = options?.ipv6Subnet;
  const bits = subnet === undefined ? 64 : checkInteger('ipv6Subnet', subnet, 32, 128);
  if (typeof address !== 'string' || address === '' || address.length > MAX_LENGTH) throw refusal(address);
  if (IPV4.test(address)) return address;
  // A dual-stack socket reports every IPv4 client like this; this path is 25 times as fast.
  const host = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : IPV4_WITH_PORT.exec(address)?.[1];
  if (host !== undefined && IPV4.test(host)) return host;
  const groups = ipv6Groups(BRACKETED.exec(address)?.[1] ?? address);
  if (groups === undefined) throw refusal(address);
  return isMapped(groups) ? dotted(groups) : network(groups, bits);
}

/** 4 or 6 for an address without a port and brackets, otherwise 0. */
export const addressFamily = (text: string): 0 | 4 | 6 =>
  IPV4.test(text) ? 4 : text.length <= MAX_LENGTH && ipv6Groups(text) !== undefined ? 6 : 0;

/** The 16-bit groups of an address that `clientIp` returned for a whole address: two of IPv4, eight of IPv6. */
export function groupsOf(host: string): readonly number[] {
  return host.includes(':') ? ipv6Groups(host)! : ipv4Groups(host);
}

function ipv4Groups(host: string): readonly [high: number, low: number] {
  const [a, b, c, d] = host.split('.').map(Number) as [number, number, number, number];
  return [a * 256 + b, c * 256 + d];
}

/** The eight 16-bit groups; undefined if the text is no IPv6 address. */
function ipv6Groups(text: string): number[] | undefined {
  const zone = text.indexOf('%');
  const host = zone > 0 && zone < text.length - 1 ? text.slice(0, zone) : text;
  const colon = host.lastIndexOf(':');
  if (colon < 0) return undefined;
  const tail = host.slice(colon + 1);
  if (!tail.includes('.')) return parse(host);
  // ipaddr.js reads octal here, and wrongly takes `::1.2.3.4` for a mapped address.
  if (!IPV4.test(tail)) return undefined;
  const [high, low] = ipv4Groups(tail);
  return parse(`${host.slice(0, colon + 1)}${high.toString(16)}:${low.toString(16)}`);
}

function parse(host: string): number[] | undefined {
  try {
    return ipaddr.IPv6.parse(host).parts; // isValid() would parse it a second time
  } catch {
    return undefined;
  }
}

function isMapped(groups: number[]): boolean {
  return groups[5] === 0xffff && groups.every((group, i) => i >= 5 || group === 0);
}

function dotted(groups: number[]): string {
  const [high, low] = groups.slice(6) as [number, number];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

function network(groups: number[], bits: number): string {
  const masked = groups.map((group, i) => {
    const kept = Math.min(16, Math.max(0, bits - i * 16));
    return group & (0xffff << (16 - kept)) & 0xffff;
  });
  return `${new ipaddr.IPv6(masked).toRFC5952String()}/${bits}`;
}

function refusal(address: unknown): KeyResolutionError {
  const problem =
    address === undefined || address === ''
      ? 'There is no client address: the connection is closed, or the framework has none'
      : `The client address is not an IPv4 or IPv6 address: ${describe(address)}`;
  return new KeyResolutionError(
    `${problem}; pass the framework's own result, such as req.ip, and to @sluice/fetch limit(request, { ip })`,
  );
}

/** Number of cached addresses: half a megabyte at most. */
const MOST_CACHED = 1000;

/**
 * `clientIp` for one limit, with a cache: parsing an IPv6 address takes as long as a decision, and a client makes many requests.
 * @param refused returns the error for an invalid address; default: the error of `clientIp`
 * @throws RangeError unless `ipv6Subnet` is a whole number from 32 to 128
 */
export function compileClientKey(
  options: ClientIpOptions,
  refused: (address: string | undefined, error: unknown) => unknown = (_, error) => error,
): (client: { readonly ip: string | undefined }) => string {
  clientIp('127.0.0.1', options); // throws for an invalid subnet now
  const keys = new Map<string, string>();
  return ({ ip: address }) => {
    if (typeof address === 'string' && IPV4.test(address)) return address;
    let key = keys.get(address as string);
    if (key === undefined) {
      try {
        key = detach(clientIp(address, options));
      } catch (error) {
        throw refused(address, error);
      }
      if (keys.size >= MOST_CACHED) keys.clear();
      keys.set(detach(address!), key);
    }
    return key;
  };
}

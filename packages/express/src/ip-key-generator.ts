import { clientIp } from '@sluice/core';

/**
 * The key of an address, for a `keyGenerator`: an IPv4 address as it is, an IPv6 address as its network. The same as `clientIp`,
 * under the name of `express-rate-limit`.
 * @param ip `request.ip`
 * @param ipv6Subnet IPv6 prefix length that counts as one client, 32 to 128, or `false` for the whole address. Default 56, as in
 *   `express-rate-limit`; the default of `rateLimit` itself is 64
 * @throws KeyResolutionError if the address is missing or invalid; RangeError for an invalid subnet
 */
export const ipKeyGenerator = (ip: string | undefined, ipv6Subnet: number | false = 56): string =>
  clientIp(ip, { ipv6Subnet: ipv6Subnet === false ? 128 : ipv6Subnet });

import { clientIp } from '@sluice/core';

/**
 * The key of an address, for a `keyGenerator`: IPv4 as it is, IPv6 as its network. It is `clientIp` in the words of
 * `express-rate-limit`.
 * @param ip `request.ip`
 * @param ipv6Subnet leading bits of an IPv6 address that make one client, 32 to 128; default 56, as in `express-rate-limit`,
 *   where `rateLimit` itself has 64; `false`: the whole address
 * @throws KeyResolutionError when there is no address or it is not one; RangeError when the subnet is wrong
 */
export const ipKeyGenerator = (ip: string | undefined, ipv6Subnet: number | false = 56): string =>
  clientIp(ip, { ipv6Subnet: ipv6Subnet === false ? 128 : ipv6Subnet });

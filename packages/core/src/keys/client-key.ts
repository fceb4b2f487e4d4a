import { type ClientIpOptions, clientIp } from './client-ip.js';
import { detach } from './redis-key.js';

/** Addresses that are known at once: half a megabyte at the very most. */
const MOST = 1000;

/**
 * `clientIp` for one limit. To read an IPv6 address takes as long as to decide, and who has one makes many requests, so the keys of
 * those seen last are kept.
 * @throws RangeError when `ipv6Subnet` is not a whole number from 32 to 128
 */
export function compileClientKey(options: ClientIpOptions): (address: string | undefined) => string {
  clientIp('127.0.0.1', options); // refuses a wrong subnet now
  const keys = new Map<string, string>();
  return (address) => {
    if (typeof address !== 'string' || !address.includes(':')) return clientIp(address, options);
    let key = keys.get(address);
    if (key === undefined) {
      key = detach(clientIp(address, options));
      if (keys.size >= MOST) keys.clear();
      keys.set(detach(address), key);
    }
    return key;
  };
}

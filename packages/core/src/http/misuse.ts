import cluster from 'node:cluster';
import { isIP, isIPv6 } from 'node:net';
import type { LimiterKey } from '../limiter.js';
import { describe } from '../options.js';
import type { RequestView } from './request-view.js';
import { warnOnce } from './warnings.js';

export { type MisuseCode, warnOnce } from './warnings.js';

/** Looks at requests for settings that limit the wrong client, or nobody. */
export interface MisuseCheck {
  /**
   * @param keys whom the request counts for
   * @param ownKey do the keys come from a `key` or a `keyGenerator`?
   */
  request(view: RequestView, limiterName: string, keys: readonly LimiterKey[], ownKey: boolean): void;
}

/** What one request was counted for by one limiter; the next one is of another. */
interface Counted {
  readonly identity: object;
  readonly limiterName: string;
  readonly keys: readonly LimiterKey[];
  readonly next: Counted | undefined;
}

const slot = Symbol.for('sluice.counted');
const shared = globalThis as { [slot]?: WeakMap<object, Counted> };
shared[slot] ??= new WeakMap();
const countedOf = shared[slot];

/** So many requests tell whether a proxy is in front; one that comes later with such a header may have written it itself. */
const PROXY_TRIALS = 1000;

/**
 * Checks that warn, each once. They cost little, and nothing once they have warned.
 * @param identity what keeps the counts: limiters with the same name and identity count together. Give a store, or a limiter;
 *   without it the limiter counts with no other
 * @returns undefined when `validate` is false
 * @throws TypeError when `validate` is neither true nor false
 */
export function misuseChecks(
  where: string,
  { validate = true }: { readonly validate?: boolean | undefined },
  limiterName: string,
  storeName: string,
  identity: object = {},
): MisuseCheck | undefined {
  if (typeof validate !== 'boolean') {
    throw new TypeError(`${where}: validate must be true or false, not ${describe(validate)}`);
  }
  if (!validate) return undefined;
  warnOfMemoryInCluster(where, limiterName, storeName);
  let trials = PROXY_TRIALS;
  let lookAtKeys = true;
  let lookForTwice = true;
  return {
    request(view, name, keys, ownKey) {
      if (trials > 0) trials = isProxyClear(where, view, keys) ? 0 : trials - 1;
      if (lookAtKeys) lookAtKeys = !(ownKey && warnOfIPv6(where, name, keys));
      if (lookForTwice && view.source !== undefined) {
        lookForTwice = !warnOfTwice(where, view.source, { identity, limiterName: name, keys });
      }
    },
  };
}

function warnOfMemoryInCluster(where: string, limiterName: string, storeName: string): void {
  if (storeName !== 'memory' || !cluster.isWorker) return;
  warnOnce(
    'SLUICE_MEMORY_IN_CLUSTER',
    limiterName,
    `${where}: limit '${limiterName}' counts in the memory of this worker alone, so the cluster lets through its limit ` +
      'times the number of workers. Use redisStore, which all workers share',
  );
}

/** @returns whether there is nothing more to find out */
function isProxyClear(
  where: string,
  { proxies, headers, ip }: RequestView,
  keys: readonly LimiterKey[],
): boolean {
  if (proxies === 'some') return true;
  if (proxies === undefined || !keys.some((key) => hasAddress(key, ip))) return false;
  if (proxies === 'all') {
    warnOnce(
      'SLUICE_TRUST_PROXY_ALL',
      where,
      `${where}: the framework believes any X-Forwarded-For, which every client can write: with another address in each ` +
        'request a client is never limited. Trust the addresses of your proxies only',
    );
    return true;
  }
  const header = FORWARDED.find((name) => Object(headers)[name] !== undefined);
  if (header === undefined) return false;
  warnOnce(
    'SLUICE_FORWARDED_UNTRUSTED',
    where,
    `${where}: a request came with ${header}, but the framework trusts no proxy: all clients behind a proxy have its address, ` +
      'and share one limit. Tell the framework which proxies to trust',
  );
  return true;
}

const FORWARDED = ['x-forwarded-for', 'forwarded'] as const;

/** Is this key, or a part of it, an address? Of users and tenants it does not matter who forwards them. */
const hasAddress = (key: LimiterKey, ip: string | undefined): boolean =>
  typeof key === 'string' &&
  (isIP(key) !== 0 ||
    isIPv6(key.slice(0, Math.max(0, key.lastIndexOf('/')))) ||
    (ip !== undefined && ip !== '' && key.includes(ip)));

/** @returns whether it has warned */
function warnOfIPv6(where: string, limiterName: string, keys: readonly LimiterKey[]): boolean {
  const whole = keys.some((key) => typeof key === 'string' && key.includes(':') && isIPv6(key));
  if (whole) {
    warnOnce(
      'SLUICE_IPV6_KEY',
      limiterName,
      `${where}: limit '${limiterName}' has a whole IPv6 address for a key, but a client has 2^64 of them or more. ` +
        'Give it clientIp(address), which is the network of the client',
    );
  }
  return whole;
}

/** @returns whether it has warned */
function warnOfTwice(
  where: string,
  request: object,
  { identity, limiterName, keys }: Omit<Counted, 'next'>,
): boolean {
  const before = countedOf.get(request);
  countedOf.set(request, { identity, limiterName, keys, next: before });
  for (let one = before; one !== undefined; one = one.next) {
    if (one.identity !== identity || one.limiterName !== limiterName) continue;
    const same = one.keys.some((key, i) => key === keys[i]);
    if (!same) continue;
    warnOnce(
      'SLUICE_COUNTED_TWICE',
      limiterName,
      `${where}: limit '${limiterName}' counted one request twice for the same key, so half of the limit is lost. ` +
        'Put it in the way of a request once, or give the limits names of their own',
    );
    return true;
  }
  return false;
}

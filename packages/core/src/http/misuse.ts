import cluster from 'node:cluster';
import { isIP, isIPv6 } from 'node:net';
import type { LimiterKey } from '../keys/key-part.js';
import { checkBoolean } from '../options.js';
import { warnOnce } from '../warnings.js';
import { warnOfTwice } from './counted-twice.js';
import type { Keys } from './key-of-request.js';
import type { Limited } from './limited.js';
import { limitsMadePerRequest } from './made-per-request.js';
import type { RequestView } from './request-view.js';
import { warnOfShortPeriods } from './short-period.js';

interface MisuseOptions {
  readonly validate?: boolean | undefined;
  /** Without either, a limit counts in its own memory. */
  readonly store?: object | undefined;
  readonly limiter?: object | undefined;
}

/** Looks at requests for settings that limit the wrong client, or nobody. */
export interface MisuseCheck {
  /**
   * @param keys whom the request counts for; what is no key is nobody
   * @param ownKey do the keys come from a `key` or a `keyGenerator`?
   */
  request(view: RequestView, keys: Keys, ownKey: boolean): void;
  /** Checks a limiter, for all requests or for one. */
  limiter(by: Limited): void;
}

/**
 * So many requests tell how a program is set up; one that comes later with a proxy's header may have written it itself. Only keys of a
 * program's own making are looked at for ever: the first client with IPv6 may come late.
 */
const TRIALS = 1000;

/**
 * Checks that warn, each once.
 * @param identity what keeps the counts: limiters with the same name and identity count together. Give a store, or a limiter;
 *   without it the limiter counts with no other
 * @returns undefined when `validate` is false
 * @throws TypeError when `validate` is neither true nor false
 */
export function misuseChecks(
  where: string,
  { validate = true, store, limiter }: MisuseOptions,
  limiterName: string,
  storeName: string,
  identity: object = {},
): MisuseCheck | undefined {
  checkBoolean(`${where}: validate`, validate);
  if (!validate) return undefined;
  let lookAtStore = true;
  let lookAtKeys = true;
  let lookAtProxies = true;
  const madeHere = store === undefined && limiter === undefined;
  let lookAtMaking = madeHere ? limitsMadePerRequest(where, limiterName) : undefined;
  let trials = TRIALS;
  return {
    limiter: ({ limiters }) => warnOfShortPeriods(where, limiters),
    request(view, of, ownKey) {
      // Not before there is a request: in NestJS a guard's own limit may give way to one in the module's store.
      if (lookAtStore) warnOfMemoryInCluster(where, limiterName, storeName);
      lookAtStore = false;
      if (trials === 0 && !(ownKey && lookAtKeys)) return;
      const keys = typeof of === 'object' ? Object.values(of ?? {}) : [of];
      if (lookAtMaking?.(keys) === false) lookAtMaking = undefined;
      if (lookAtKeys) lookAtKeys = !(ownKey && warnOfIPv6(where, limiterName, keys));
      if (trials === 0) return;
      trials -= 1;
      if (lookAtProxies) lookAtProxies = !isProxyClear(where, view, keys);
      const counted = { identity, limiterName, keys };
      if (view.source !== undefined && warnOfTwice(where, view.source, counted)) trials = 0;
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

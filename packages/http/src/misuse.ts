import type { LimiterKey } from '@sluice/core';
import { addressFamily, warnOnce } from '@sluice/core/internal';
import { cluster } from '#platform';
import { countsAddresses, listOfKeys } from './key-of-request.js';
import { limitsMadePerRequest } from './made-per-request.js';
import type { Keys, RequestLimitOptions } from './request-limit-options.js';
import type { LimiterSource } from './request-limiter.js';
import type { RequestView } from './views.js';

/**
 * Requests that are checked. They show how a program is set up; a later `X-Forwarded-For` may come from a client. Only the program's
 * own keys are always checked: the first IPv6 client may come late.
 */
const TRIALS = 1000;

/** Warns once about each setting that limits the wrong client or nobody. */
export class MisuseChecks {
  /** Rules, a store or a limiter: limits with the same name and identity count together. */
  readonly #identity: object;
  /** Are there checks left for requests? */
  active = true;
  #trials = TRIALS;
  /** Checks of the first requests. Each returns true when later requests can tell no more. */
  #checks: readonly ((view: RequestView, keys: readonly LimiterKey[]) => boolean)[];
  /** Do the keys come from `key` or `keyGenerator`, and none was a whole IPv6 address? */
  #checksKeys: boolean;

  constructor(
    private readonly where: string,
    options: RequestLimitOptions<never>,
    private readonly source: Pick<LimiterSource<never>, 'name' | 'store' | 'single'>,
  ) {
    const { limiter, rules } = options;
    const { name, store, single } = source;
    this.#identity = rules ?? store ?? single!.limiter;
    this.#checksKeys = !countsAddresses(options);
    const ownMemory = options.store === undefined && limiter === undefined && rules === undefined;
    const isClear = ownMemory ? limitsMadePerRequest(where, name) : () => true;
    this.#checks = [
      () => this.#isStoreClear(),
      (_view, keys) => isClear(keys),
      (view, keys) => this.#areProxiesClear(view, keys),
      ({ source }, keys) => source !== undefined && this.#isCountedTwice(source, keys),
    ];
  }

  request(view: RequestView, of: Keys): void {
    const keys = listOfKeys(of);
    if (this.#checksKeys) this.#checksKeys = !this.#warnsOfIPv6(keys);
    if (this.#trials > 0) {
      this.#trials -= 1;
      this.#checks = this.#checks.filter((isDone) => !isDone(view, keys));
    }
    this.active = this.#trials > 0 || this.#checksKeys;
  }

  /** Checked with a request: another store may replace the limit's own until then. */
  #isStoreClear(): boolean {
    if (this.source.store?.name !== 'memory' || !cluster.isWorker) return true;
    return this.#warn(
      'SLUICE_MEMORY_IN_CLUSTER',
      `limit '${this.source.name}' counts in this worker's memory, so each worker of the cluster allows the whole limit. ` +
        'Use redisStore, which all workers share',
    );
  }

  /** @returns whether it has warned */
  #warnsOfIPv6(keys: readonly LimiterKey[]): boolean {
    if (!keys.some((key) => typeof key === 'string' && key.includes(':') && addressFamily(key) === 6))
      return false;
    return this.#warn(
      'SLUICE_IPV6_KEY',
      `limit '${this.source.name}' uses a whole IPv6 address as its key, but a client has at least 2^64 addresses. ` +
        "Use clientIp(address), which returns the client's network",
    );
  }

  #areProxiesClear({ proxies, headers, ip }: RequestView, keys: readonly LimiterKey[]): boolean {
    if (proxies === 'some') return true;
    if (proxies === undefined || !keys.some((key) => hasAddress(key, ip))) return false;
    if (proxies === 'all')
      return this.#warn(
        'SLUICE_TRUST_PROXY_ALL',
        'the framework trusts every X-Forwarded-For header, which any client can send. A client that sends another address in ' +
          "each request is never limited. Trust only your proxies' addresses",
        this.where,
      );
    const header = ['x-forwarded-for', 'forwarded'].find((name) => Object(headers)[name] !== undefined);
    if (header === undefined) return false;
    return this.#warn(
      'SLUICE_FORWARDED_UNTRUSTED',
      `a request has the header ${header}, but the framework trusts no proxy. All clients behind a proxy then share its address ` +
        'and one limit. Configure which proxies the framework trusts, or set validate: false if your keyGenerator reads another header',
      this.where,
    );
  }

  /** @returns whether it has warned */
  #isCountedTwice(request: { [COUNTED]?: Counted }, keys: readonly LimiterKey[]): boolean {
    const limiterName = this.source.name;
    const identity = this.#identity;
    const before = request[COUNTED];
    request[COUNTED] = { identity, limiterName, keys, next: before };
    for (let one = before; one !== undefined; one = one.next) {
      if (one.identity !== identity || one.limiterName !== limiterName) continue;
      if (!one.keys.some((key, i) => key === keys[i])) continue;
      return this.#warn(
        'SLUICE_COUNTED_TWICE',
        `limit '${limiterName}' counted one request twice for the same key, so clients get half of the limit. ` +
          'Apply it once to each request, or give each limit its own name',
      );
    }
    return false;
  }

  /** @param about the limit or place that is warned about once */
  #warn(code: Parameters<typeof warnOnce>[0], text: string, about = this.source.name): true {
    warnOnce(code, about, `${this.where}: ${text}`);
    return true;
  }
}

/** Is this key, or a part of it, an address? Keys of users do not depend on proxies. */
function hasAddress(key: LimiterKey, ip: string | undefined): boolean {
  if (typeof key !== 'string') return false;
  const text = key.replace(/^ip:/, ''); // of a list of keys
  return (
    addressFamily(text) !== 0 ||
    addressFamily(text.slice(0, Math.max(0, text.lastIndexOf('/')))) === 6 ||
    (ip !== undefined && ip !== '' && text.includes(ip))
  );
}

/** The keys for which one limit counted a request; a list with an entry for each limit. */
interface Counted {
  readonly identity: object;
  readonly limiterName: string;
  readonly keys: readonly LimiterKey[];
  readonly next?: Counted | undefined;
}

/** A property of the framework's request: an entry in a WeakMap for each request costs the garbage collector time. */
const COUNTED = Symbol.for('sluice.counted');

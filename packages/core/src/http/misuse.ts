import cluster from 'node:cluster';
import { isIP, isIPv6 } from 'node:net';
import { shortPeriodOf } from '../algorithms/short-periods.js';
import type { LimiterKey } from '../keys/key-part.js';
import { warnOnce } from '../warnings.js';
import { listOfKeys } from './key-of-request.js';
import { limitsMadePerRequest } from './made-per-request.js';
import type { Keys } from './request-limit-options.js';
import type { RequestLimiter } from './request-limiter.js';
import type { RequestView } from './views.js';

/** What the checks know about a limit. */
interface CheckedLimit {
  readonly limiterName: string;
  readonly storeName: string | undefined;
  /** Do the keys come from `key` or `keyGenerator`? */
  readonly ownKey: boolean;
  /** Does the limit count in its own memory? */
  readonly ownMemory: boolean;
  /** A store or a limiter: limits with the same name and identity count together. Without it the limit counts alone. */
  readonly identity?: object | undefined;
}

/**
 * The first requests show how a program is set up; later, a proxy's header may be written by a client. Only the program's own
 * keys are checked for ever: the first client with IPv6 may come late.
 */
const TRIALS = 1000;

/** Warns, each once, about settings that limit the wrong client or nobody. */
export class MisuseChecks {
  readonly #where: string;
  readonly #limit: CheckedLimit;
  readonly #identity: object;
  /** Are there checks left for requests? */
  active = true;
  #trials = TRIALS;
  /** Checks of the first requests. Each returns true when later requests can tell no more. */
  #checks: readonly ((view: RequestView, keys: readonly LimiterKey[]) => boolean)[];
  #checksKeys: boolean;

  constructor(where: string, limit: CheckedLimit) {
    this.#where = where;
    this.#limit = limit;
    this.#identity = limit.identity ?? {};
    this.#checksKeys = limit.ownKey;
    const isClear = limit.ownMemory ? limitsMadePerRequest(where, limit.limiterName) : () => true;
    this.#checks = [
      () => this.#isStoreClear(),
      (_view, keys) => isClear(keys),
      (view, keys) => this.#areProxiesClear(view, keys),
      ({ source }, keys) => source !== undefined && this.#isCountedTwice(source, keys),
    ];
  }

  /** Warns about windows given as a number below 1000: `window: 60` means 60 ms and limits hardly anything. */
  limiter({ limiters }: RequestLimiter): void {
    for (const { name, policies } of Object.values(limiters)) {
      for (const policy of Object.values(policies)) {
        const short = shortPeriodOf(policy);
        if (short === undefined) continue;
        const { option, value } = short;
        this.#warn(
          'SLUICE_SHORT_WINDOW',
          `${option}: ${value} of limit '${name}' is ${value} milliseconds. Write '${value}s' if you mean seconds, ` +
            `'${value}ms' if you mean milliseconds`,
          name,
        );
      }
    }
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

  /** Checked with a request: in NestJS the module's store may replace the guard's own. */
  #isStoreClear(): boolean {
    if (this.#limit.storeName === 'memory' && cluster.isWorker) {
      this.#warn(
        'SLUICE_MEMORY_IN_CLUSTER',
        `limit '${this.#limit.limiterName}' counts in the memory of this worker alone, so the cluster lets through its limit ` +
          'times the number of workers. Use redisStore, which all workers share',
      );
    }
    return true;
  }

  /** @returns whether it has warned */
  #warnsOfIPv6(keys: readonly LimiterKey[]): boolean {
    const whole = keys.some((key) => typeof key === 'string' && key.includes(':') && isIPv6(key));
    if (whole) {
      this.#warn(
        'SLUICE_IPV6_KEY',
        `limit '${this.#limit.limiterName}' has a whole IPv6 address for a key, but a client has 2^64 of them or more. ` +
          'Give it clientIp(address), which is the network of the client',
      );
    }
    return whole;
  }

  #areProxiesClear({ proxies, headers, ip }: RequestView, keys: readonly LimiterKey[]): boolean {
    if (proxies === 'some') return true;
    if (proxies === undefined || !keys.some((key) => hasAddress(key, ip))) return false;
    if (proxies === 'all') {
      this.#warn(
        'SLUICE_TRUST_PROXY_ALL',
        'the framework believes any X-Forwarded-For, which every client can write: with another address in each ' +
          'request a client is never limited. Trust the addresses of your proxies only',
        this.#where,
      );
      return true;
    }
    const header = FORWARDED.find((name) => Object(headers)[name] !== undefined);
    if (header === undefined) return false;
    this.#warn(
      'SLUICE_FORWARDED_UNTRUSTED',
      `a request came with ${header}, but the framework trusts no proxy: all clients behind a proxy have its address, ` +
        'and share one limit. Tell the framework which proxies to trust',
      this.#where,
    );
    return true;
  }

  /** @returns whether it has warned */
  #isCountedTwice(request: { [COUNTED]?: Counted }, keys: readonly LimiterKey[]): boolean {
    const { limiterName } = this.#limit;
    const identity = this.#identity;
    const before = request[COUNTED];
    request[COUNTED] = { identity, limiterName, keys, next: before };
    for (let one = before; one !== undefined; one = one.next) {
      if (one.identity !== identity || one.limiterName !== limiterName) continue;
      const same = one.keys.some((key, i) => key === keys[i]);
      if (!same) continue;
      this.#warn(
        'SLUICE_COUNTED_TWICE',
        `limit '${limiterName}' counted one request twice for the same key, so half of the limit is lost. ` +
          'Put it in the way of a request once, or give the limits names of their own',
      );
      return true;
    }
    return false;
  }

  /** @param about a limit or a place: a warning comes once for each */
  #warn(code: Parameters<typeof warnOnce>[0], text: string, about = this.#limit.limiterName): void {
    warnOnce(code, about, `${this.#where}: ${text}`);
  }
}

const FORWARDED = ['x-forwarded-for', 'forwarded'] as const;

/** Is this key, or a part of it, an address? For users and tenants it does not matter who forwards them. */
const hasAddress = (key: LimiterKey, ip: string | undefined): boolean =>
  typeof key === 'string' &&
  (isIP(key) !== 0 ||
    isIPv6(key.slice(0, Math.max(0, key.lastIndexOf('/')))) ||
    (ip !== undefined && ip !== '' && key.includes(ip)));

/** What one limit counted a request for; `next` belongs to another limit. */
interface Counted {
  readonly identity: object;
  readonly limiterName: string;
  readonly keys: readonly LimiterKey[];
  readonly next?: Counted | undefined;
}

/** On a framework's request: in a WeakMap, an entry for each request would be work for the garbage collector. */
const COUNTED = Symbol.for('sluice.counted');

import {
  fixedWindow,
  type LimiterBaseOptions,
  LimiterClosedError,
  type LimiterKey,
  memoryStore,
  type PrefetchOptions,
  RateLimiter,
  type Store,
} from '@sluice/core';
import {
  checkFunction,
  checkOptions,
  compileClientKey,
  getOrCreate,
  type MaybePromise,
  prefetchDefault,
} from '@sluice/core/internal';
import {
  addressError,
  checkRules,
  type NamedRule,
  type RequestRules,
  type RequestView,
  requestUser,
  requestUserIfAny,
  setKeyKind,
} from '@sluice/http';
import type { Rules } from './limitation.js';

export interface SluiceOptions
  extends Omit<LimiterBaseOptions, 'name' | 'store' | 'hashTag' | 'prefetch' | 'escalate' | 'notify'> {
  /** Where state lives; default one `memoryStore()` for all limits. Close a store that you pass yourself. */
  readonly store?: Store;
  /**
   * Rules of `@sluice/rules`, for `@Limit('name')`: `await loadRules('limits.yaml', { store })`. They have their own store. You close
   * them.
   */
  readonly rules?: RequestRules | undefined;
  /** Returns the user of a request, for `limitType: 'USER'`; default the request's `user.id`, or `user` if that is a plain value. */
  readonly user?: (request: RequestView) => LimiterKey | null | undefined;
  /** IPv6 prefix length that counts as one client, from 32 to 128; default 64. */
  readonly ipv6Subnet?: number;
  /**
   * Takes permits from a remote store in blocks, `{ most: 100 }`; default `false`. See `PrefetchOptions` of `@sluice/core`. It does not
   * apply to methods whose policy does not allow it (`concurrency`, `slidingLog`, …).
   */
  readonly prefetch?: PrefetchOptions | false;
}

/** @internal */
export const SLUICE_OPTIONS = [
  'store',
  'rules',
  'user',
  'ipv6Subnet',
  'keyPrefix',
  'deadline',
  'failurePolicy',
  'denyCache',
  'prefetch',
  'margin',
  'gap',
  'maxWaiting',
] as const;

/** A configuration and its limiters. Made by `createSluice` and `configureSluice`. */
export class Sluice {
  readonly #user: SluiceOptions['user'];
  readonly #rules: RequestRules | undefined;
  /** The options of all limiters. */
  readonly #base: LimiterBaseOptions & { readonly store: Store };
  readonly #ownsStore: boolean;
  /** By IPv6 prefix length; undefined is the one of the configuration. */
  readonly #clientKeys = new Map<number | undefined, ReturnType<typeof compileClientKey>>();
  readonly #limiters = new Map<Rules, Map<string, RateLimiter>>();
  #closed = false;

  /** @internal @throws RangeError, TypeError naming the invalid option */
  constructor(where: string, options: SluiceOptions) {
    checkOptions(where, options, SLUICE_OPTIONS);
    const { user, ipv6Subnet, rules, ...base } = options;
    checkFunction(`${where}: user`, user);
    if (rules !== undefined) checkRules(where, rules);
    this.#user = user;
    this.#rules = rules;
    this.#clientKeys.set(undefined, compileClientKey({ ipv6Subnet }, addressError));
    this.#ownsStore = base.store === undefined;
    const store = base.store === undefined ? memoryStore() : base.store;
    this.#base = { ...base, store, prefetch: prefetchDefault(base.prefetch) };
    // So that invalid options fail now. It is closed, so no other process learns of it.
    void this.#create('check', { policy: fixedWindow({ limit: 1, window: 1 }) }).close();
  }

  /**
   * @internal The limiter of this name and these rules, created at the first call: decorators run before configuration.
   * @throws LimiterClosedError
   */
  limiter(name: string, rules: Rules, keyKind: string): RateLimiter {
    if (this.#closed) throw new LimiterClosedError(`Limiter '${name}' was closed by closeSluice or close`);
    let limiter = this.#limiters.get(rules)?.get(name);
    if (limiter === undefined) {
      limiter = this.#create(name, rules);
      setKeyKind(limiter, keyKind);
      const named = this.#limiters.get(rules) ?? new Map<string, RateLimiter>();
      this.#limiters.set(rules, named.set(name, limiter));
    }
    return limiter;
  }

  /**
   * @internal The current rule of this name.
   * @throws TypeError without rules; RangeError if they have no such rule; LimiterClosedError
   */
  rule(name: string, where: string): NamedRule {
    if (this.#closed) throw new LimiterClosedError(`Rule '${name}' was closed by closeSluice or close`);
    if (this.#rules !== undefined) return this.#rules.rule(name);
    throw new TypeError(
      `${where}: '${name}' is the name of a rule, and there are no rules: call configureSluice({ rules: await loadRules('limits.yaml') }) ` +
        'at start, with loadRules of @sluice/rules',
    );
  }

  /**
   * @internal
   * @param ipv6Subnet of a rule; default: the configuration's
   * @throws KeyResolutionError if the request has no address
   */
  ip(request: RequestView, ipv6Subnet?: number): string {
    const clientKey = getOrCreate(this.#clientKeys, ipv6Subnet, () =>
      compileClientKey({ ipv6Subnet }, addressError),
    );
    return clientKey(request);
  }

  /** @internal @throws KeyResolutionError if the request has no user */
  user(request: RequestView): MaybePromise<string> {
    return requestUser(request, this.#user);
  }

  /** @internal Undefined for a request without a user. */
  userIfAny(request: RequestView): MaybePromise<string | undefined> {
    return requestUserIfAny(request, this.#user);
  }

  /** Rejects waiting and further calls with a `LimiterClosedError`. Closes the memory store if none was passed. */
  async close(): Promise<void> {
    this.#closed = true;
    const limiters = [...this.#limiters.values()].flatMap((named) => [...named.values()]);
    await Promise.all(limiters.map((limiter) => limiter.close()));
    if (this.#ownsStore) await this.#base.store.close();
  }

  #create(name: string, rules: Rules): RateLimiter {
    return new RateLimiter({ ...this.#base, name, ...rules });
  }
}

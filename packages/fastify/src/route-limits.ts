import { memoryStore, type Store } from '@sluice/core';
import { checkOptions, describe, givenOptions } from '@sluice/core/internal';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { checkBodyHook, rememberBodyReader } from './body-keys.js';
import { inherited } from './inherit.js';
import { type HookedLimit, hookFor, limitHook } from './limit-hook.js';
import {
  checkHook,
  hasLimit,
  RATE_LIMIT_OPTIONS,
  type RateLimitHookName,
  type RateLimitOptions,
  REMEDIES,
  type RouteRateLimitOptions,
} from './options.js';
import { constraintsOf, nameOf } from './route-name.js';

/** Marks the config of routes and not-found handlers that have their own limit. */
export const LIMITED = Symbol('sluice.limited');

/** The limits of single routes in a scope. They inherit the plugin's options. */
export class RouteLimits {
  /** By options and route. HEAD has the options object of its GET, and counts with it. */
  readonly #hooks = new WeakMap<RouteRateLimitOptions, Map<string, HookedLimit>>();
  readonly #gets = new WeakMap<RouteRateLimitOptions, Map<string, string>>();
  #store: Store | undefined;

  /** @param shared the limit of the plugin itself, shared by routes without their own options */
  constructor(
    readonly app: FastifyInstance,
    readonly options: RateLimitOptions,
    readonly hook: RateLimitHookName,
    readonly shared: HookedLimit | undefined,
  ) {}

  static limited(config: object): boolean {
    return LIMITED in config;
  }

  /**
   * Attaches the limit of a route's `config.rateLimit`.
   * @throws RangeError, TypeError naming the invalid option
   */
  limit(route: RouteOptions, own: RouteRateLimitOptions): void {
    if (typeof own !== 'object' || own === null) {
      throw new TypeError(
        `rateLimit: config.rateLimit of ${route.method} ${route.url} must be an object of options or false, not ${describe(own)}`,
      );
    }
    const { hook = this.hook, ...options } = givenOptions(own);
    checkHook(hook);
    const name = this.#nameOf(route, own);
    const hooks = this.#hooks.get(own) ?? new Map<string, HookedLimit>();
    const shares = Object.keys(options).length === 0 ? this.shared : undefined;
    const limit = shares ?? hooks.get(name) ?? this.#ofRoute(name, options);
    this.#hooks.set(own, hooks.set(name, limit));
    checkBodyHook(`rateLimit: config.rateLimit of ${route.method} ${route.url}`, hook, {
      ...inherited(this.options, options),
      ...options,
    });
    attach(route, hook, limit, LIMITED);
  }

  /**
   * A limit that the program calls itself; without options the plugin's limit.
   * @throws RangeError, TypeError naming the invalid option
   */
  own(where: string, own: RateLimitOptions): HookedLimit {
    checkOptions(where, own, RATE_LIMIT_OPTIONS, REMEDIES);
    const options = givenOptions(own);
    if (Object.keys(options).length === 0 && this.shared !== undefined) return this.shared;
    const { limiter, name, groupId } = options;
    const all = { ...inherited(this.options, options), ...options };
    if (limiter === undefined && all.store !== undefined && (name ?? groupId) === undefined) {
      throw new TypeError(
        `${where}: a limit in the plugin's store needs its own name, such as ${where}({ name: 'login', … }). ` +
          'Without names two limits would share their counts',
      );
    }
    return this.#make(all);
  }

  /** The HEAD that Fastify adds to a GET counts with it, also if the route has other methods, or `/prefix` differs by its last slash. */
  #nameOf(route: RouteOptions, own: RouteRateLimitOptions): string {
    const gets = this.#gets.get(own) ?? new Map<string, string>();
    this.#gets.set(own, gets);
    const place = `${route.url.replace(/\/$/, '')} ${constraintsOf(route)}`;
    const known = route.method === 'HEAD' ? gets.get(place) : undefined;
    const name = known ?? nameOf(route);
    if ([route.method].flat().includes('GET')) gets.set(place, name);
    return name;
  }

  #ofRoute(name: string, own: RateLimitOptions): HookedLimit {
    return this.#make({ ...inherited(this.options, own), ...this.#place(name, own), ...own });
  }

  #make(options: RateLimitOptions): HookedLimit {
    const limit = limitHook(options);
    rememberBodyReader(limit.hook, options);
    this.app.addHook('onReady', limit.connect);
    this.app.addHook('onClose', limit.close);
    return limit;
  }

  /** Routes with one name count together, so they share a store. A route without a name gets its own. */
  #place(name: string, own: RateLimitOptions): Pick<RateLimitOptions, 'name' | 'store'> {
    // The limiters of a given limiter, or of rules, have their names already.
    if (own.limiter !== undefined || own.rules !== undefined) return {};
    if (this.options.rules !== undefined && !hasLimit(own)) return {};
    const store = own.store ?? this.options.store ?? this.#ownStore();
    return own.groupId === undefined ? { name, store } : { store };
  }

  #ownStore(): Store {
    if (this.#store === undefined) {
      const store = memoryStore();
      this.#store = store;
      this.app.addHook('onClose', () => store.close());
    }
    return this.#store;
  }
}

/** Limits a route after its own hooks, which may authenticate the request. */
export function attach(route: RouteOptions, hook: RateLimitHookName, limit: HookedLimit, mark: symbol): void {
  const before = route[hook] ?? [];
  Object.assign(route, {
    [hook]: [...(Array.isArray(before) ? before : [before]), hookFor(hook, limit.callback)],
    config: { ...route.config, [mark]: true },
  });
}

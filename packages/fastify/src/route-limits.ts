import { describe, KEY_OPTIONS, memoryStore, PLACE_OPTIONS, prefetchDefault, type Store } from '@sluice/core';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { type HookedLimit, hookFor, limitHook } from './limit-hook.js';
import {
  CHOICES,
  checkHook,
  type RateLimitHookName,
  type RateLimitOptions,
  type RouteRateLimitOptions,
} from './options.js';
import { constraintsOf, nameOf } from './route-name.js';

/** These answer a denial: a route that gives one of them inherits none. */
const ANSWER = ['handler', 'message', 'throw'] as const;

/** Marks the configuration of routes that are limited by it. */
const LIMITED = Symbol('sluice.limited');

/** The limits of routes that have one in their configuration. What they leave open is as the plugin's options say. */
export class RouteLimits {
  /** By options and route: HEAD comes with the options of GET, and counts with it. */
  readonly #hooks = new WeakMap<RouteRateLimitOptions, Map<string, HookedLimit>>();
  readonly #gets = new WeakMap<RouteRateLimitOptions, Map<string, string>>();
  #store: Store | undefined;

  /** @param shared the limit of the plugin itself, which routes without numbers of their own share */
  constructor(
    readonly app: FastifyInstance,
    readonly options: RateLimitOptions,
    readonly hook: RateLimitHookName,
    readonly shared: HookedLimit | undefined,
  ) {}

  static limited(config: object): boolean {
    return LIMITED in config;
  }

  /** @throws RangeError, TypeError naming the option that is wrong */
  limit(route: RouteOptions, own: RouteRateLimitOptions): void {
    if (typeof own !== 'object' || own === null) {
      throw new TypeError(
        `rateLimit: config.rateLimit of ${route.method} ${route.url} must be an object of options or false, not ${describe(own)}`,
      );
    }
    const { hook = this.hook, ...options } = own;
    checkHook(hook);
    const name = this.#nameOf(route, own);
    const hooks = this.#hooks.get(own) ?? new Map<string, HookedLimit>();
    const shares = Object.keys(options).length === 0 ? this.shared : undefined;
    const limit = shares ?? hooks.get(name) ?? this.#make(name, options);
    this.#hooks.set(own, hooks.set(name, limit));
    const before = route[hook] ?? [];
    Object.assign(route, {
      [hook]: [hookFor(hook, limit.callback), ...(Array.isArray(before) ? before : [before])],
      config: { ...route.config, [LIMITED]: true },
    });
  }

  /** HEAD, which Fastify adds to GET, counts with it: also to GET with other methods, and with the other form of `/prefix/`. */
  #nameOf(route: RouteOptions, own: RouteRateLimitOptions): string {
    const gets = this.#gets.get(own) ?? new Map<string, string>();
    this.#gets.set(own, gets);
    const place = `${route.url.replace(/\/$/, '')} ${constraintsOf(route)}`;
    const known = route.method === 'HEAD' ? gets.get(place) : undefined;
    const name = known ?? nameOf(route);
    if ([route.method].flat().includes('GET')) gets.set(place, name);
    return name;
  }

  #make(name: string, own: RateLimitOptions): HookedLimit {
    const limit = limitHook({ ...this.#inherited(own), ...this.#place(name, own), ...own });
    this.app.addHook('onClose', limit.close);
    return limit;
  }

  #inherited(own: RateLimitOptions): RateLimitOptions {
    const { name: _, groupId: __, ...inherited } = this.options as Record<string, unknown>;
    // Beside a policy of the route's own it may not be possible.
    if (CHOICES.some((name) => own[name] !== undefined))
      inherited.prefetch = prefetchDefault(this.options.prefetch);
    const keyless = own.limiter !== undefined || own.limits !== undefined;
    for (const group of [CHOICES, KEY_OPTIONS, ANSWER]) {
      const replaced = group.some((name) => own[name] !== undefined) || (group === KEY_OPTIONS && keyless);
      if (replaced) for (const name of group) delete inherited[name];
    }
    // Of a limiter that is given, they are its own.
    if (own.limiter !== undefined) for (const name of PLACE_OPTIONS) delete inherited[name];
    // `max` and `timeWindow` are the two halves of one policy, as in @fastify/rate-limit.
    const { max, timeWindow } = this.options;
    if (own.max !== undefined && timeWindow !== undefined) inherited.timeWindow = timeWindow;
    if (own.max === undefined && own.timeWindow !== undefined && max !== undefined) inherited.max = max;
    return inherited;
  }

  /** Routes of one name count together, so they have one store; and each a name of its own, unless it is given one. */
  #place(name: string, own: RateLimitOptions): Pick<RateLimitOptions, 'name' | 'store'> {
    if (own.limiter !== undefined) return {};
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

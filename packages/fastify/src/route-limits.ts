import { memoryStore, type Store } from '@sluice/core';
import {
  checkOptions,
  describe,
  givenOptions,
  hashStoredKey,
  isName,
  LIMITER_BASE_OPTIONS,
  prefetchDefault,
} from '@sluice/core/internal';
import { KEY_OPTIONS } from '@sluice/http';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { checkBodyHook, rememberBodyReader } from './body-keys.js';
import { type HookedLimit, hookFor, limitHook } from './limit-hook.js';
import {
  ANSWERS,
  CHOICES,
  checkHook,
  RATE_LIMIT_OPTIONS,
  type RateLimitHookName,
  type RateLimitOptions,
  REMEDIES,
  type RouteRateLimitOptions,
} from './options.js';

/** Marks the config of routes and not-found handlers that have their own limit. */
export const LIMITED = Symbol('sluice.limited');

/** Routes with the same path and different constraints are different routes. */
type LimitedRoute = Pick<RouteOptions, 'method' | 'url' | 'constraints'>;

const constraintsOf = ({ constraints = {} }: LimitedRoute): string =>
  Object.entries(constraints)
    .map(([name, value]) => `@${name}=${value}`)
    .sort()
    .join('');

/** `GET:/users/:id`; with a hash if a limiter cannot have that name. HEAD counts as GET. */
export function routeName(route: LimitedRoute): string {
  const methods = new Set([route.method].flat().map((method) => (method === 'HEAD' ? 'GET' : method)));
  const name = `${[...methods].join('.')}:${route.url}${constraintsOf(route)}`;
  const safe = name.replace(/[^\w.:/@#-]/g, '-');
  return isName(name) ? name : safe.slice(0, 80) + hashStoredKey(name);
}

const isNamed = ({ name, groupId }: RateLimitOptions): boolean => (name ?? groupId) !== undefined;

/** The limits of single routes in a scope. They inherit the plugin's options. */
export class ScopeLimits {
  /** By options and route. HEAD has the options object of its GET, and counts with it. */
  readonly #limits = new WeakMap<object, Map<string, HookedLimit>>();
  readonly #gets = new WeakMap<object, Map<string, string>>();
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
    const where = `rateLimit: config.rateLimit of ${route.method} ${route.url}`;
    if (typeof own !== 'object' || own === null)
      throw new TypeError(`${where} must be an object of options or false, not ${describe(own)}`);
    const { hook = this.hook, ...options } = givenOptions(own);
    checkHook(hook);
    const limit = this.ofRoute(route, own, options);
    checkBodyHook(where, hook, { ...this.#inherited(options), ...options });
    attach(route, hook, limit, LIMITED);
  }

  /**
   * The limit of a route.
   * @param written the options as the program wrote them: routes with the same object and name share a limit
   * @param own those of the limit
   */
  ofRoute(route: LimitedRoute, written: object, own: RateLimitOptions): HookedLimit {
    const name = this.#nameOf(route, written);
    const limits = this.#limits.get(written) ?? new Map<string, HookedLimit>();
    const shares = Object.keys(own).length === 0 ? this.shared : undefined;
    const limit =
      shares ?? limits.get(name) ?? this.make({ ...this.#inherited(own), ...this.#place(name, own), ...own });
    this.#limits.set(written, limits.set(name, limit));
    return limit;
  }

  /**
   * A limit that the program calls itself; without options the plugin's limit.
   * @param where the call that made it, for errors: `app.rateLimit`
   * @throws RangeError, TypeError naming the invalid option
   */
  own(where: string, written: RateLimitOptions): HookedLimit {
    checkOptions(where, written, RATE_LIMIT_OPTIONS, REMEDIES);
    const options = givenOptions(written);
    if (Object.keys(options).length === 0 && this.shared !== undefined) return this.shared;
    const all = { ...this.#inherited(options), ...options };
    if (options.limiter === undefined && all.store !== undefined && !isNamed(options)) {
      throw new TypeError(
        `${where}: a limit in the plugin's store needs its own name, such as ${where}({ name: 'login', … }). ` +
          'Without names two limits would share their counts',
      );
    }
    return this.make(all);
  }

  /** Creates a limit that starts and closes with the server. */
  protected make(options: RateLimitOptions): HookedLimit {
    const limit = limitHook(options);
    rememberBodyReader(limit.hook, options);
    this.app.addHook('onReady', limit.connect);
    this.app.addHook('onClose', limit.close);
    return limit;
  }

  /**
   * The plugin's options that a limit inherits, without `name`. Options come in groups: if `own` has one option of a group, it inherits none
   * of that group.
   */
  #inherited(own: RateLimitOptions): RateLimitOptions {
    const { name: _, groupId: __, ...rest } = this.options as Record<string, unknown>;
    const gives = (name: keyof RateLimitOptions) => own[name] !== undefined;
    const drop = (names: readonly string[]) => {
      for (const name of names) delete rest[name];
    };
    if (CHOICES.some(gives)) {
      // A policy of the route may not support prefetching. Thresholds belong to a policy.
      rest.prefetch = prefetchDefault(this.options.prefetch);
      delete rest.notify;
    }
    const given = gives('limiter') || gives('rules');
    for (const group of [CHOICES, KEY_OPTIONS, ANSWERS]) if (group.some(gives)) drop(group);
    if (given || gives('limits')) drop(KEY_OPTIONS);
    // A given limiter, or rules, have their own.
    if (given) drop([...LIMITER_BASE_OPTIONS, 'ban', 'onBanReach']);
    if (gives('rules')) delete rest.cost;
    if (own.throw === true) drop(['ban', 'onBanReach', 'onExceeded']);
    // `max` and `timeWindow` are two halves of one policy, as in @fastify/rate-limit.
    const { max, timeWindow } = this.options;
    if (gives('max') && timeWindow !== undefined) rest.timeWindow = timeWindow;
    if (!gives('max') && gives('timeWindow') && max !== undefined) rest.max = max;
    return rest;
  }

  /** The HEAD that Fastify adds to a GET counts with it, also if the route has other methods, or `/prefix` differs by its last slash. */
  #nameOf(route: LimitedRoute, written: object): string {
    const gets = this.#gets.get(written) ?? new Map<string, string>();
    this.#gets.set(written, gets);
    const place = `${route.url.replace(/\/$/, '')} ${constraintsOf(route)}`;
    const methods = [route.method].flat();
    const known = methods.length === 1 && methods[0] === 'HEAD' ? gets.get(place) : undefined;
    const name = known ?? routeName(route);
    if (methods.includes('GET')) gets.set(place, name);
    return name;
  }

  /** Routes with one name count together, so they share a store. A route without a name gets its own. */
  #place(name: string, own: RateLimitOptions): Pick<RateLimitOptions, 'name' | 'store'> {
    // The limiters of a given limiter, or of rules, have their names already.
    if (own.limiter !== undefined || own.rules !== undefined) return {};
    if (this.options.rules !== undefined && !CHOICES.some((choice) => own[choice] !== undefined)) return {};
    const store = own.store ?? this.options.store ?? this.#ownStore();
    return isNamed(own) ? { store } : { name, store };
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

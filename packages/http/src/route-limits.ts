import { memoryStore, type Store } from '@sluice/core';
import {
  describe,
  givenOptions,
  hashStoredKey,
  isName,
  LIMITER_BASE_OPTIONS,
  prefetchDefault,
} from '@sluice/core/internal';
import { KEY_OPTIONS, type RequestLimitOptions } from './request-limit-options.js';

/** A route of a framework in which routes are declared with options. */
export interface LimitedRoute {
  readonly methods: readonly string[];
  readonly path: string;
  /** What else a request must match: routes with the same path and different constraints are different routes. */
  readonly constraints?: Readonly<Record<string, unknown>> | undefined;
}

const constraintsOf = ({ constraints = {} }: LimitedRoute): string =>
  Object.entries(constraints)
    .map(([name, value]) => `@${name}=${value}`)
    .sort()
    .join('');

/** `GET:/users/:id`; with a hash if a limiter cannot have that name. HEAD counts as GET. */
export function routeName(route: LimitedRoute): string {
  const methods = new Set(route.methods.map((method) => (method === 'HEAD' ? 'GET' : method)));
  const name = `${[...methods].join('.')}:${route.path}${constraintsOf(route)}`;
  const safe = name.replace(/[^\w.:/@#-]/g, '-');
  return isName(name) ? name : safe.slice(0, 80) + hashStoredKey(name);
}

/** The limits of single routes, which inherit the options of a plugin. `L` is a limit as the framework uses it. */
export abstract class RouteLimits<O extends RequestLimitOptions<never>, L> {
  /** The options that choose a limit. */
  protected abstract readonly choices: readonly (string & keyof O)[];
  /** Options that answer a denial. A route with one of them inherits none. */
  protected abstract readonly answers: readonly (string & keyof O)[];
  /** By options and route. HEAD has the options object of its GET, and counts with it. */
  readonly #limits = new WeakMap<object, Map<string, L>>();
  readonly #gets = new WeakMap<object, Map<string, string>>();
  #store: Store | undefined;

  /** @param shared the limit of the plugin itself, shared by routes without their own options */
  constructor(
    readonly options: O,
    readonly shared: L | undefined,
  ) {}

  /** Creates a limit that starts and closes with the server. */
  protected abstract make(options: O): L;
  protected abstract onClose(close: () => Promise<void>): void;

  protected isNamed(own: O): boolean {
    return own.name !== undefined;
  }

  /**
   * The plugin's options that a limit inherits, without `name`. Options come in groups: if `own` has one option of a group, it inherits none
   * of that group.
   */
  protected inherited(own: O): O {
    const { name: _, ...rest } = this.options as Record<string, unknown>;
    const gives = (name: string) => own[name as keyof O] !== undefined;
    if (this.choices.some(gives)) {
      // A policy of the route may not support prefetching. Thresholds belong to a policy.
      rest.prefetch = prefetchDefault(this.options.prefetch);
      delete rest.notify;
    }
    const given = own.limiter !== undefined || own.rules !== undefined;
    const keyless = given || own.limits !== undefined;
    for (const group of [this.choices, KEY_OPTIONS, this.answers]) {
      if (group.some(gives) || (group === KEY_OPTIONS && keyless))
        for (const name of group) delete rest[name];
    }
    // A given limiter, or rules, have their own.
    if (given) for (const name of LIMITER_BASE_OPTIONS) delete rest[name];
    if (own.rules !== undefined) delete rest.cost;
    return rest as unknown as O;
  }

  /**
   * The limit of a route.
   * @param written the options as the program wrote them: routes with the same object and name share a limit
   * @param own those of the limit
   */
  ofRoute(route: LimitedRoute, written: object, own: O): L {
    const name = this.#nameOf(route, written);
    const limits = this.#limits.get(written) ?? new Map<string, L>();
    const shares = Object.keys(own).length === 0 ? this.shared : undefined;
    const limit =
      shares ?? limits.get(name) ?? this.make({ ...this.inherited(own), ...this.#place(name, own), ...own });
    this.#limits.set(written, limits.set(name, limit));
    return limit;
  }

  /**
   * A limit that the program calls itself; without options the plugin's limit.
   * @param where the call that made it, for errors: `app.rateLimit`
   * @throws RangeError, TypeError naming the invalid option
   */
  own(where: string, written: O): L {
    const options = givenOptions(written);
    if (Object.keys(options).length === 0 && this.shared !== undefined) return this.shared;
    const all = { ...this.inherited(options), ...options };
    if (options.limiter === undefined && all.store !== undefined && !this.isNamed(options)) {
      throw new TypeError(
        `${where}: a limit in the plugin's store needs its own name, such as ${where}({ name: 'login', … }). ` +
          'Without names two limits would share their counts',
      );
    }
    return this.make(all);
  }

  /** The HEAD that frameworks add to a GET counts with it, also if the route has other methods, or `/prefix` differs by its last slash. */
  #nameOf(route: LimitedRoute, written: object): string {
    const gets = this.#gets.get(written) ?? new Map<string, string>();
    this.#gets.set(written, gets);
    const place = `${route.path.replace(/\/$/, '')} ${constraintsOf(route)}`;
    const { methods } = route;
    const known = methods.length === 1 && methods[0] === 'HEAD' ? gets.get(place) : undefined;
    const name = known ?? routeName(route);
    if (methods.includes('GET')) gets.set(place, name);
    return name;
  }

  /** Routes with one name count together, so they share a store. A route without a name gets its own. */
  #place(name: string, own: O): Pick<RequestLimitOptions<never>, 'name' | 'store'> {
    // The limiters of a given limiter, or of rules, have their names already.
    if (own.limiter !== undefined || own.rules !== undefined) return {};
    if (this.options.rules !== undefined && !this.choices.some((choice) => own[choice] !== undefined))
      return {};
    const store = own.store ?? this.options.store ?? this.#ownStore();
    return this.isNamed(own) ? { store } : { name, store };
  }

  #ownStore(): Store {
    if (this.#store === undefined) {
      const store = memoryStore();
      this.#store = store;
      this.onClose(() => store.close());
    }
    return this.#store;
  }
}

/** @throws TypeError unless the option of a route is an object of options */
export function checkRouteOptions(where: string, own: unknown): asserts own is object {
  if (typeof own === 'object' && own !== null) return;
  throw new TypeError(`${where} must be an object of options or false, not ${describe(own)}`);
}

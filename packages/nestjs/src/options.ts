import type { ExecutionContext } from '@nestjs/common';
import type { Store } from '@sluice/core';
import { checkOptions, describe, givenOptions, prefetchDefault } from '@sluice/core/internal';
import { SLUICE_OPTIONS, type SluiceOptions } from '@sluice/decorators';
import {
  CHOICE_OPTIONS,
  countsAddresses,
  countsUsers,
  type KeyOptions,
  REQUEST_LIMIT_OPTIONS,
  type RequestLimitOptions,
  type RequestRules,
} from '@sluice/http';

/** The options of every adapter's `rateLimit`; functions get Nest's `ExecutionContext`. */
export interface RateLimitGuardOptions extends RequestLimitOptions<[context: ExecutionContext]> {
  /**
   * Returns the request of a context other than HTTP, such as a GraphQL resolver or a WebSocket message. For `undefined` the module's `limit`
   * does not count it. Default: the module's `limit` counts HTTP only, and a guard on anything else is an error.
   */
  readonly getRequestResponse?: ((context: ExecutionContext) => RequestResponse | undefined) | undefined;
}

/** A request of Express or Fastify, or a substitute, and its response if there is one. */
export interface RequestResponse {
  /** Has the values that the key uses: `ip`, `user`, `headers`, … */
  // biome-ignore lint/suspicious/noExplicitAny: requests of all frameworks
  readonly req: any;
  /** Gets the headers. Required for `timeout`, `concurrency`, `skipFailedRequests` and others that last until the response is over. */
  // biome-ignore lint/suspicious/noExplicitAny: responses of all frameworks
  readonly res?: any;
}

/** The token of the module's configuration, for guards. Registered globally, because the package may be loaded twice. */
export const SLUICE_ROOT: unique symbol = Symbol.for('sluice.nestjs.root');

/** Options that choose the limit. */
export const CHOICES = ['limiter', 'rules', ...CHOICE_OPTIONS] as const;

/** The names of all options. */
export const GUARD_OPTIONS = [...REQUEST_LIMIT_OPTIONS, 'getRequestResponse'] as const;

export interface SluiceModuleOptions extends Omit<SluiceOptions, 'store'> {
  /**
   * Rules of `@sluice/rules`: each request that has a handler is limited by those that match it, unless `limit` has its own policy, and
   * `@Limit('name')` finds its rule here. You close them.
   */
  readonly rules?: RequestRules | undefined;
  /**
   * The store of decorated methods and guards, or a function that creates one for each application. It is closed with the
   * application. Default: memory.
   */
  readonly store?: Store | (() => Store);
  /** Limits each request that has a handler. A limit of this name counts for the whole application; default `'default'`. */
  readonly limit?: RateLimitGuardOptions;
}

/** What decorated methods and guards share. */
export type RootOptions = SluiceOptions;

/** Stores that were closed with their application. */
export const closedStores = new WeakSet<Store>();

const IN_LIMIT =
  "pass what limits all requests in 'limit', such as limit: { policy: fixedWindow({ limit: 100, window: '1m' }) }";
/** By the options of a limit and of @nestjs/throttler. Nest spreads a list of throttlers: '0' is its first. */
const MODULE_REMEDIES = Object.fromEntries(
  [...GUARD_OPTIONS, 'ttl', 'throttlers', '0'].map((name) => [name, IN_LIMIT]),
);

/** @throws TypeError naming the invalid option */
export function readModuleOptions(
  options: SluiceModuleOptions | undefined,
): RootOptions & Pick<SluiceModuleOptions, 'limit'> {
  if (options === undefined) {
    throw new TypeError(
      "SluiceModule was imported without forRoot: import SluiceModule.forRoot({ … }) once, in the application's module. Other " +
        'modules need not import it',
    );
  }
  checkOptions('SluiceModule', options, [...SLUICE_OPTIONS, 'limit'], MODULE_REMEDIES);
  const { store: given, ...rest } = options;
  const store = typeof given === 'function' ? given() : given;
  if (store === undefined && given === undefined) return rest;
  if (typeof store?.decide !== 'function') {
    throw new TypeError(
      `SluiceModule: store must be memoryStore(), redisStore(…) or a function that returns one, not ${describe(store)}`,
    );
  }
  if (closedStores.has(store)) {
    throw new TypeError(
      'SluiceModule: this store was closed with an earlier application: pass a function that creates one for each, ' +
        'store: () => redisStore(…)',
    );
  }
  return { ...rest, store };
}

type KeyWay = KeyOptions<[context: ExecutionContext]>;

/** The module's `limit`, by its rules unless it chooses something else. */
export const withRules = (limit: RateLimitGuardOptions, { rules }: RootOptions): RateLimitGuardOptions =>
  rules === undefined || CHOICES.some((name) => limit[name] !== undefined) ? limit : { ...limit, rules };

/** The options of a guard, with the module's options as defaults. */
export function withDefaults(own: RateLimitGuardOptions, root: RootOptions): RateLimitGuardOptions {
  const options = givenOptions(own);
  const limits = Object(options.limits) === options.limits ? options.limits : undefined;
  if (options.rules !== undefined) return options;
  if (options.limiter !== undefined) return { ...keyDefaults(options, root), ...options };
  const { user: _user, ipv6Subnet: _subnet, rules: _rules, ...base } = root;
  return {
    ...base,
    prefetch: prefetchDefault(base.prefetch),
    ...(limits === undefined && keyDefaults(options, root)),
    ...options,
    ...(limits !== undefined && {
      limits: Object.fromEntries(
        Object.entries(limits).map(([name, limit]) => [
          name,
          { ...keyDefaults(limit, root), ...givenOptions(limit) },
        ]),
      ),
    }),
  };
}

/** Without options that would have no effect, because limits refuse them. */
function keyDefaults(own: KeyWay, { user, ipv6Subnet }: RootOptions): KeyWay {
  return {
    ...(countsUsers(own) && user !== undefined && { user }),
    ...(countsAddresses(own) && ipv6Subnet !== undefined && { ipv6Subnet }),
  };
}

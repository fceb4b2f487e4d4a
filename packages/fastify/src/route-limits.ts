import { checkOptions, givenOptions } from '@sluice/core/internal';
import { checkRouteOptions, RouteLimits } from '@sluice/http';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { bodyHooks } from './body-keys.js';
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

/** The limits of single routes in a scope. They inherit the plugin's options. */
export class ScopeLimits extends RouteLimits<RateLimitOptions, HookedLimit> {
  protected readonly choices = CHOICES;
  protected readonly answers = ANSWERS;

  constructor(
    readonly app: FastifyInstance,
    options: RateLimitOptions,
    readonly hook: RateLimitHookName,
    shared: HookedLimit | undefined,
  ) {
    super(options, shared);
  }

  static limited(config: object): boolean {
    return LIMITED in config;
  }

  /**
   * Attaches the limit of a route's `config.rateLimit`.
   * @throws RangeError, TypeError naming the invalid option
   */
  limit(route: RouteOptions, own: RouteRateLimitOptions): void {
    const { method, url, constraints } = route;
    const where = `rateLimit: config.rateLimit of ${method} ${url}`;
    checkRouteOptions(where, own);
    const { hook = this.hook, ...options } = givenOptions(own);
    checkHook(hook);
    const limit = this.ofRoute({ methods: [method].flat(), path: url, constraints }, own, options);
    bodyHooks.check(where, hook, { ...this.inherited(options), ...options });
    attach(route, hook, limit, LIMITED);
  }

  override own(where: string, own: RateLimitOptions): HookedLimit {
    checkOptions(where, own, RATE_LIMIT_OPTIONS, REMEDIES);
    return super.own(where, own);
  }

  protected override isNamed({ name, groupId }: RateLimitOptions): boolean {
    return (name ?? groupId) !== undefined;
  }

  protected override inherited(own: RateLimitOptions): RateLimitOptions {
    const { groupId: _, ...rest } = super.inherited(own) as Record<string, unknown>;
    const given = own.limiter !== undefined || own.rules !== undefined;
    if (given || own.throw === true) for (const name of ['ban', 'onBanReach']) delete rest[name];
    if (own.throw === true) delete rest.onExceeded;
    // `max` and `timeWindow` are two halves of one policy, as in @fastify/rate-limit.
    const { max, timeWindow } = this.options;
    if (own.max !== undefined && timeWindow !== undefined) rest.timeWindow = timeWindow;
    if (own.max === undefined && own.timeWindow !== undefined && max !== undefined) rest.max = max;
    return rest;
  }

  protected make(options: RateLimitOptions): HookedLimit {
    const limit = limitHook(options);
    bodyHooks.remember(limit.hook, options);
    this.app.addHook('onReady', limit.connect);
    this.app.addHook('onClose', limit.close);
    return limit;
  }

  protected onClose(close: () => Promise<void>): void {
    this.app.addHook('onClose', close);
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

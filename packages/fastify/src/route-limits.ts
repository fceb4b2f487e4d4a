import { createHash } from 'node:crypto';
import { memoryStore, type Store } from '@sluice/core';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { limitHook, type RateLimitHook } from './limit-hook.js';
import {
  CHOICES,
  checkHook,
  type RateLimitHookName,
  type RateLimitOptions,
  type RouteRateLimitOptions,
} from './options.js';

/** Options that go together: a route that gives one of them inherits none. */
const KEY = ['limitType', 'key', 'keyGenerator', 'user', 'ipv6Subnet'] as const;
const ANSWER = ['handler', 'message', 'throw'] as const;

/** From the options of a route to its limit: HEAD comes with the options of GET, and counts with it. */
const hooks = new WeakMap<RouteRateLimitOptions, RateLimitHook>();

/** The limits of routes that have one in their configuration. What they leave open is as the plugin's options say. */
export class RouteLimits {
  #store: Store | undefined;

  /** @param shared the limit of the plugin itself, which routes without numbers of their own share */
  constructor(
    readonly app: FastifyInstance,
    readonly options: RateLimitOptions,
    readonly hook: RateLimitHookName,
    readonly shared: RateLimitHook | undefined,
  ) {}

  static limited(own: RouteRateLimitOptions): boolean {
    return hooks.has(own);
  }

  /** @throws RangeError, TypeError naming the option that is wrong */
  limit(route: RouteOptions, own: RouteRateLimitOptions): void {
    const { hook = this.hook, ...options } = own;
    checkHook(hook);
    let limit = hooks.get(own);
    if (limit === undefined) {
      const shares = Object.keys(options).length === 0;
      limit = (shares ? this.shared : undefined) ?? this.#make(route, options);
      hooks.set(own, limit);
    }
    const before = route[hook] ?? [];
    Object.assign(route, { [hook]: [limit, ...(Array.isArray(before) ? before : [before])] });
  }

  #make(route: RouteOptions, own: RateLimitOptions): RateLimitHook {
    const { hook, close } = limitHook({ ...this.#inherited(own), ...this.#place(route, own), ...own });
    this.app.addHook('onClose', close);
    return hook;
  }

  #inherited(own: RateLimitOptions): RateLimitOptions {
    const { name: _, groupId: __, ...inherited } = this.options as Record<string, unknown>;
    const keyless = own.limiter !== undefined || own.limits !== undefined;
    for (const group of [CHOICES, KEY, ANSWER]) {
      const replaced = group.some((name) => own[name] !== undefined) || (group === KEY && keyless);
      if (replaced) for (const name of group) delete inherited[name];
    }
    return inherited;
  }

  /** Routes of one name count together, so they have one store; and each a name of its own, unless it is given one. */
  #place(route: RouteOptions, own: RateLimitOptions): Pick<RateLimitOptions, 'name' | 'store'> {
    if (own.limiter !== undefined) return {};
    const store = own.store ?? this.options.store ?? this.#ownStore();
    return own.groupId === undefined ? { name: nameOf(route), store } : { store };
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

/** `GET:/users/:id`; with a hash where the name of a limiter cannot hold all of it. */
function nameOf({ method, url }: RouteOptions): string {
  const name = `${[method].flat().join('.')}:${url}`;
  const safe = name.replace(/[^\w.:/@#-]/g, '-');
  if (safe === name && name.length <= 100) return name;
  return `${safe.slice(0, 90)}#${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

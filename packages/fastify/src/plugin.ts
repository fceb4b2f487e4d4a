import { type Decision, isRateLimitExceededError } from '@sluice/core';
import { keepHeaders } from '@sluice/http';
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import { bodyHooks } from './body-keys.js';
import { type HookedLimit, hookFor, limitHook, type RateLimitHook } from './limit-hook.js';
import { ownHooks, watchNotFound } from './not-found.js';
import {
  checkPlugin,
  hasLimit,
  type RateLimitHookName,
  type RateLimitOptions,
  type RateLimitPluginOptions,
  type RouteRateLimitOptions,
} from './options.js';
import { type CreateRateLimitOptions, checkOptionsOfCheck, type RateLimitCheck } from './rate-limit-check.js';
import { attach, ScopeLimits } from './route-limits.js';

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Returns a hook for one route: `{ preHandler: app.rateLimit({ … }) }`. It inherits the options of the plugin. In the plugin's store it
     * needs a `name`. Without options it is the plugin's limit, which counts each request once. In `setNotFoundHandler` a hook with options
     * replaces the plugin's limit.
     */
    rateLimit(options?: RateLimitOptions): RateLimitHook;
    /** Returns a function that decides on your call and leaves the response to you. Takes the options of `rateLimit`. */
    createRateLimit(options?: CreateRateLimitOptions): RateLimitCheck;
  }
  interface FastifyRequest {
    /** The decision of the last limit, also a denial. */
    rateLimit: Decision | null;
  }
  interface FastifyContextConfig {
    /** The limit of this route instead of the plugin's; false: no limit. */
    rateLimit?: RouteRateLimitOptions | false;
  }
}

/** The property of a scope with the defaults of its routes; inner scopes inherit it. */
const routeLimits = Symbol('sluice.route-limits');
type Scope = FastifyInstance & { [routeLimits]?: ScopeLimits };

/**
 * Limits the routes of the scope in which it is registered. Registered without a limit, it adds `app.rateLimit(options)`, which
 * returns a hook for one route, and limits the routes with `config: { rateLimit: { … } }`. A request over a limit gets a 429 with
 * `Retry-After` and a problem (RFC 9457). Every response has `RateLimit` and `RateLimit-Policy`. Permits of a `concurrency` policy are
 * released when the response is over. You can register it several times; every registration limits.
 * @throws RangeError, TypeError naming the invalid option
 */
const register: FastifyPluginAsync<RateLimitPluginOptions> = async (scope, given) => {
  const { global = true, hook = 'onRequest', ...options } = given;
  checkPlugin(given);
  const app: Scope = scope;
  const counted = Symbol('sluice.counted');
  const limit = hasLimit(options) ? limitHook(options, counted) : undefined;
  if (!app.hasRequestDecorator('rateLimit')) prepare(app);
  // Routes inherit from the nearest registration that has options.
  if (app[routeLimits] === undefined || Object.keys(given).length > 0) {
    app[routeLimits] = new ScopeLimits(app, options, hook, limit);
  }
  if (limit !== undefined) {
    bodyHooks.remember(limit.hook, options);
    app.decorateRequest(counted, false);
    app.addHook('onReady', limit.connect);
    app.addHook('onClose', limit.close);
  }
  if (limit === undefined || !global) {
    app.addHook('onRequest', (request, _reply, done) => done(unlimited(request.routeOptions)));
    return;
  }
  bodyHooks.check('rateLimit', hook, options);
  limitAll(app, hook, limit);
};

export const rateLimit = plugin(register, { fastify: '5.x', name: '@sluice/fastify' });

/** Limits each route after its own hooks and the hooks of its scope. Earlier routes and 404s are limited among the hooks of the scope. */
function limitAll(app: Scope, hook: RateLimitHookName, limit: HookedLimit): void {
  const attached = Symbol('sluice.attached');
  app.addHook('onRoute', (route) => {
    if (route.config?.rateLimit === undefined) attach(route, hook, limit, attached);
  });
  const others: HookedLimit['callback'] = (request, reply, done) => {
    const route = request.routeOptions; // a new object on each access
    if (attached in route.config) done();
    else if (ScopeLimits.limited(route.config) || route.config.rateLimit !== undefined)
      done(unlimited(route));
    else limit.callback(request, reply, done);
  };
  app.addHook(hook as 'onRequest', hookFor(hook, others));
}

function prepare(app: Scope): void {
  app.decorateRequest('rateLimit', null);
  app.decorate('rateLimit', function (this: Scope | undefined, options: RateLimitOptions = {}) {
    const limits = (this ?? app)[routeLimits]!;
    const { hook } = limits.own('app.rateLimit', options);
    if (hook !== limits.shared?.hook) ownHooks.add(hook);
    return hook;
  });
  watchNotFound(app);
  app.decorate('createRateLimit', function (this: Scope | undefined, options: CreateRateLimitOptions = {}) {
    checkOptionsOfCheck(options);
    return (this ?? app)[routeLimits]!.own('app.createRateLimit', options).check;
  });
  app.addHook('onRoute', function (this: Scope, route) {
    const { method, url } = route;
    bodyHooks.checkRoute(`rateLimit: ${method} ${url}`, (hook) => [route[hook] ?? []].flat());
    const own = route.config?.rateLimit;
    if (own !== undefined && own !== false) this[routeLimits]!.limit(route, own);
  });
  // Fastify lets the headers of an error replace those of the reply.
  app.addHook('onError', (_request, reply, error, done) => {
    if (isRateLimitExceededError(error)) keepHeaders(error, reply.getHeaders());
    done();
  });
}

/** The error for a route that has a limit in its config but is not limited, because it was added before the plugin. */
function unlimited({ config, method, url }: FastifyRequest['routeOptions']): Error | undefined {
  const { rateLimit: own } = config;
  if (own === undefined || own === false || ScopeLimits.limited(config)) return undefined;
  return new Error(
    `rateLimit: the route ${method} ${url} was added before the plugin was registered: await app.register(rateLimit) first`,
  );
}

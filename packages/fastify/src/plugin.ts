import {
  type Decision,
  limitRequests,
  PROBLEM_TYPE,
  problemOf,
  type RequestLimitOptions,
  type RequestView,
  runWithRequest,
  writeHeaders,
} from '@sluice/core';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import { FastifyRequestView } from './request.js';

export type RateLimitOptions = RequestLimitOptions<[request: FastifyRequest]>;

export interface RateLimitPluginOptions extends RateLimitOptions {
  /** When a request is limited; default `'onRequest'`. A key made of the body or of a user needs `'preHandler'`. */
  readonly hook?: 'onRequest' | 'preParsing' | 'preValidation' | 'preHandler';
}

export type RateLimitHook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

declare module 'fastify' {
  interface FastifyInstance {
    /** Makes a hook for one route: `{ preHandler: app.rateLimit({ … }) }`. */
    rateLimit(options: RateLimitOptions): RateLimitHook;
  }
  interface FastifyRequest {
    /** The decision of the last limit that let this request pass. */
    rateLimit: Decision | null;
  }
}

const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const;
const views = new WeakMap<FastifyRequest, RequestView>();

/**
 * Registered with a policy or a limiter, limits all routes that come after it; registered without, it only gives
 * `app.rateLimit(options)`, which makes a hook for one route. A request beyond a limit is answered with 429, `Retry-After`
 * and a problem body; each answer tells `RateLimit` and `RateLimit-Policy`. What a request holds of a `concurrency`
 * policy is released when its response is over. May be registered several times.
 * @throws RangeError, TypeError naming the option that is wrong
 */
const register: FastifyPluginAsync<RateLimitPluginOptions> = async (app, given) => {
  const { hook = 'onRequest', ...options } = given;
  if (!HOOKS.includes(hook)) {
    throw new RangeError(`rateLimit: hook must be one of ${HOOKS.join(', ')}, not ${JSON.stringify(hook)}`);
  }
  if (!app.hasRequestDecorator('rateLimit')) prepare(app);
  if (Object.keys(given).length > 0) app.addHook(hook, app.rateLimit(options));
};

export const rateLimit = plugin(register, { fastify: '5.x', name: '@sluice/fastify' });

function prepare(app: FastifyInstance): void {
  app.decorateRequest('rateLimit', null);
  app.decorate('rateLimit', (options: RateLimitOptions) => limitHook(app, options));
  app.addHook('onRequest', (request, _reply, done) => runWithRequest(viewOf(request), done));
  // A body's arrival ends the context that onRequest began: what comes after runs from the socket's event.
  app.addHook('preValidation', (request, _reply, done) => runWithRequest(viewOf(request), done));
}

function limitHook(app: FastifyInstance, options: RateLimitOptions): RateLimitHook {
  const limit = limitRequests('rateLimit', options);
  app.addHook('onClose', () => limit.close());
  return async (request, reply) => {
    const decision = await limit.decide(viewOf(request), request);
    if (decision === undefined) return undefined;
    limit.releaseAfter(decision, reply.raw);
    if (reply.sent) return undefined;
    writeHeaders(decision, {
      get: (name) => reply.getHeader(name),
      set: (name, value) => reply.header(name, value),
    });
    if (!decision.allowed) {
      const problem = JSON.stringify(problemOf(decision));
      return reply.code(429).type(PROBLEM_TYPE).send(problem);
    }
    request.rateLimit = decision;
    return undefined;
  };
}

function viewOf(request: FastifyRequest): RequestView {
  let view = views.get(request);
  if (view === undefined) {
    view = new FastifyRequestView(request);
    views.set(request, view);
  }
  return view;
}

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type Express, type Request } from 'express';
import express4 from 'express-4';
import fastify from 'fastify';
import Koa from 'koa';
import type { Decision, RequestLimitOptions } from '../../packages/core/src/index.js';
import * as forExpress from '../../packages/express/src/index.js';
import * as forFastify from '../../packages/fastify/src/index.js';
import * as forKoa from '../../packages/koa/src/index.js';

/** A service whose routes all do the same: go through the limits, then call the handler and answer its result as JSON. */
export interface Service {
  /** In order. Functions get what the framework gives; its first argument has `headers` in all of them. */
  readonly limits?: readonly RequestLimitOptions<[{ headers: Record<string, unknown> }, ...unknown[]]>[];
  readonly handler?: (decision: Decision | undefined) => unknown;
  /** Believe one proxy's X-Forwarded-For. */
  readonly trustProxy?: boolean;
}

export interface Adapter {
  readonly name: string;
  /** Listens on 127.0.0.1. Who is logged in stands in the header `x-user`. JSON bodies are parsed before the limits. */
  serve(service: Service): Promise<Running>;
}

export interface Running {
  readonly url: string;
  close(): Promise<void>;
}

export const adapters: readonly Adapter[] = [
  { name: 'Express 5', serve: (service) => serveExpress(express, service) },
  {
    name: 'Express 4',

    serve: (service) => serveExpress(express4, service),
  },
  { name: 'Koa 3', serve: serveKoa },
  { name: 'Fastify 5', serve: serveFastify },
];

const nothing = () => ({ ok: true });

function serveExpress(framework: typeof express, { limits = [], handler = nothing, trustProxy }: Service) {
  const app: Express = framework();
  if (trustProxy) app.set('trust proxy', 1);
  app.use(framework.json(), forExpress.requestContext(), (request, _response, next) => {
    (request as Request & { user?: unknown }).user = request.headers['x-user'];
    next();
  });
  for (const limit of limits) app.use(forExpress.rateLimit(limit as forExpress.RateLimitOptions));
  app.use(async (request, response, next) => {
    try {
      response.json(await handler(request.rateLimit));
    } catch (error) {
      next(error);
    }
  });
  // The framework's own error handler answers; this one only keeps it from logging.
  const quiet: ErrorRequestHandler = (error, _request, _response, next) =>
    next({ ...ownOf(error), stack: '' });
  app.use(quiet);
  return listening(app.listen(0, '127.0.0.1'));
}

const ownOf = ({ status, statusCode, headers, message }: Record<string, unknown>) => ({
  status,
  statusCode,
  headers,
  message,
});

function serveKoa({ limits = [], handler = nothing, trustProxy = false }: Service) {
  const app = new Koa({ proxy: trustProxy, maxIpsCount: 1 });
  app.silent = true;
  app.use(async (context, next) => {
    let text = '';
    for await (const chunk of context.req) text += chunk;
    (context.request as { body?: unknown }).body = text === '' ? undefined : JSON.parse(text);
    context.state.user = context.headers['x-user'];
    await next();
  });
  app.use(forKoa.requestContext());
  for (const limit of limits) app.use(forKoa.rateLimit(limit as unknown as forKoa.RateLimitOptions));
  app.use(async (context) => {
    context.body = await handler(context.state.rateLimit);
  });
  return listening(app.listen(0, '127.0.0.1'));
}

async function serveFastify({ limits = [], handler = nothing, trustProxy }: Service) {
  const app = fastify(trustProxy ? { trustProxy: '127.0.0.1' } : {});
  app.decorateRequest('user', undefined);
  app.addHook('onRequest', async (request) => {
    (request as { user?: unknown }).user = request.headers['x-user'];
  });
  await app.register(forFastify.requestContext);
  await app.register(forFastify.rateLimit);
  for (const limit of limits) {
    await app.register(forFastify.rateLimit, {
      ...(limit as forFastify.RateLimitOptions),
      hook: 'preHandler',
    });
  }
  app.all('*', async (request) => handler(request.rateLimit ?? undefined));
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
}

async function listening(server: Server): Promise<Running> {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

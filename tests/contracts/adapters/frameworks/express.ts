import { pipeline, Readable } from 'node:stream';
import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express';
import expressV4 from 'express-4';
import {
  type RateLimitOptions,
  rateLimit,
  rateLimitErrors,
  requestContext,
} from '../../../../packages/express/src/index.js';
import {
  type Errors,
  type Framework,
  type Limit,
  listening,
  nothing,
  ownOptions,
  prefixOf,
  type Service,
} from './framework.js';

export async function serveExpress(
  framework: typeof express,
  {
    limits = [],
    scopes = [],
    handler = nothing,
    before,
    denied,
    errors = 'framework',
    trustProxy,
    pages,
    lateParser = false,
    limitsPerRequest = false,
  }: Service,
) {
  const create = (limit: Limit) =>
    rateLimit({
      ...(limit as RateLimitOptions),
      ...(denied !== undefined && {
        handler: async (request, response, _next, decision) => response.json(await denied(decision, request)),
      }),
    });
  const limited = (limit: Limit): RequestHandler =>
    limitsPerRequest ? (request, response, next) => create(limit)(request, response, next) : create(limit);
  const end: RequestHandler = async (request, response, next) => {
    try {
      const answer = {
        status: (code: number) => void response.status(code),
        raw: response,
        takeOver: () => {},
      };
      const result = await handler(request.rateLimit, answer);
      if (result instanceof Readable) pipeline(result, response, () => {});
      else if (!response.headersSent) response.json(result);
    } catch (error) {
      next(error);
    }
  };

  const app = framework();
  if (trustProxy) app.set('trust proxy', trustProxy === 'all' ? true : 1);
  const parser = framework.json({ strict: false });
  if (!lateParser) app.use(parser);
  app.use(requestContext(), (request, response, next) => {
    Object.assign(request, { user: request.headers['x-user'] });
    before?.(response);
    next();
  });
  for (const limit of limits) app.use(limited(limit));
  if (lateParser) app.use(parser);
  for (const { at, limits: own = [], routes } of scopes) {
    const router = framework.Router();
    for (const limit of own) router.use(limited(limit));
    for (const [path, each] of Object.entries(routes)) router.get(path, ...each.map(limited), end);
    app.use(at, router);
  }
  for (const [page, text] of Object.entries(pages ?? {})) {
    const send: RequestHandler = (_request, response) => void response.send(text);
    const prefix = prefixOf(page);
    if (prefix === undefined) app.get(page, send);
    else app.use(prefix, send);
  }
  if (pages === undefined) app.use(end);
  app.use(...errorHandlers(errors));
  return listening(app.listen(0, '127.0.0.1'));
}

/** In the end the framework's own error handler answers; `quiet` only keeps it from logging. */
function errorHandlers(errors: Errors): ErrorRequestHandler[] {
  const own: ErrorRequestHandler = (error, _request, response, _next) => {
    response.status(error.status ?? 500).json({ caught: error.code });
  };
  const quiet: ErrorRequestHandler = ({ status, statusCode, headers, message }, _request, _response, next) =>
    next({ status, statusCode, headers, message, stack: '' });
  return [...(errors === 'own' ? [own] : errors === 'adapter' ? [rateLimitErrors()] : []), quiet];
}

const common = {
  cannot: { http2: 'Express serves HTTP/1.1 only' },
  ownOptions: ownOptions<RateLimitOptions>({
    handler: true,
    requestPropertyName: true,
    limit: true,
    max: true,
    windowMs: true,
    identifier: true,
  }),
  names: { limit: 'limit', window: 'windowMs' },
  headersOf: ({ headers }: Request) => headers,
  methodOf: ({ method }: Request) => method,
  socketOf: ({ socket }: Request) => socket,
  decisionOf: ({ rateLimit: decision }: Request) => decision,
};

export const express5: Framework = {
  ...common,
  name: 'Express 5',
  serve: (service) => serveExpress(express, service),
};

export const express4: Framework = {
  ...common,
  name: 'Express 4',
  serve: (service) => serveExpress(expressV4 as unknown as typeof express, service),
};

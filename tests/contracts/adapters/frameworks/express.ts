import { pipeline, Readable } from 'node:stream';
import type express from 'express';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import {
  type RateLimitOptions,
  rateLimit,
  rateLimitErrors,
  requestContext,
} from '../../../../packages/express/src/index.js';
import { type Errors, type Limit, listening, nothing, type Service } from './service.js';

export function serveExpress(
  framework: typeof express,
  { limits = [], scopes = [], handler = nothing, before, denied, errors = 'framework', trustProxy }: Service,
) {
  const limited = (limit: Limit) =>
    rateLimit({
      ...(limit as RateLimitOptions),
      ...(denied !== undefined && {
        handler: async (request, response, _next, decision) => response.json(await denied(decision, request)),
      }),
    });
  const end: RequestHandler = async (request, response, next) => {
    try {
      const answer = { status: (code: number) => void response.status(code), raw: response };
      const result = await handler(request.rateLimit, answer);
      if (result instanceof Readable) pipeline(result, response, () => {});
      else if (!response.headersSent) response.json(result);
    } catch (error) {
      next(error);
    }
  };

  const app = framework();
  if (trustProxy) app.set('trust proxy', trustProxy === 'all' ? true : 1);
  app.use(framework.json({ strict: false }), requestContext(), (request, response, next) => {
    Object.assign(request, { user: request.headers['x-user'] });
    before?.(response);
    next();
  });
  for (const limit of limits) app.use(limited(limit));
  for (const { at, limits: own = [], routes } of scopes) {
    const router = framework.Router();
    for (const limit of own) router.use(limited(limit));
    for (const [path, each] of Object.entries(routes)) router.get(path, ...each.map(limited), end);
    app.use(at, router);
  }
  app.use(end);
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

import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { type RateLimitOptions, rateLimit, requestContext } from '../../../../packages/koa/src/index.js';
import { type Limit, listening, nothing, type Service } from './service.js';

export function serveKoa({
  limits = [],
  scopes = [],
  handler = nothing,
  before,
  denied,
  errors = 'framework',
  trustProxy = false,
}: Service) {
  const limited = (limit: Limit) =>
    rateLimit({
      ...(limit as unknown as RateLimitOptions),
      ...(denied !== undefined && {
        handler: async (context, _next, decision) => {
          context.body = await denied(decision, context);
        },
      }),
    });
  const end: Middleware = async (context) => {
    const status = (code: number) => {
      context.status = code;
    };
    context.body = await handler(context.state.rateLimit, { status, raw: context.res });
  };

  const app = new Koa({ proxy: trustProxy !== false, ...(trustProxy !== 'all' && { maxIpsCount: 1 }) });
  app.silent = true;
  app.use(async (context, next) => {
    try {
      await next();
    } catch (error) {
      if (errors !== 'own') throw error;
      const { status = 500, code } = error as { status?: number; code?: string };
      context.status = status;
      context.body = { caught: code };
    }
  });
  app.use(async (context, next) => {
    let text = '';
    for await (const chunk of context.req) text += chunk;
    (context.request as { body?: unknown }).body = text === '' ? undefined : JSON.parse(text);
    context.state.user = context.headers['x-user'];
    before?.(context.res);
    if (context.res.headersSent) context.respond = false;
    await next();
  });
  app.use(requestContext());
  for (const limit of limits) app.use(limited(limit));
  for (const { at, limits: own = [], routes } of scopes) {
    const router = new Router({ prefix: at });
    for (const limit of own) router.use(limited(limit));
    for (const [path, each] of Object.entries(routes)) router.get(path, ...each.map(limited), end);
    app.use(router.routes());
  }
  app.use(end);
  return listening(app.listen(0, '127.0.0.1'));
}

import { createServer, type Server } from 'node:http';
import { createServer as createServer2 } from 'node:http2';
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { type RateLimitOptions, rateLimit, requestContext } from '../../../../packages/koa/src/index.js';
import {
  type Framework,
  type Limit,
  listening,
  nothing,
  ownOptions,
  prefixOf,
  type Service,
} from './framework.js';

/** @param takesOver code that starts a response sets `respond: false` */
export async function serveKoa(
  {
    limits = [],
    scopes = [],
    handler = nothing,
    before,
    denied,
    errors = 'framework',
    trustProxy = false,
    pages,
    http2 = false,
    lateParser = false,
    limitsPerRequest = false,
  }: Service,
  takesOver = true,
  modules = { Koa, Router },
) {
  const create = (limit: Limit) =>
    rateLimit({
      ...(limit as unknown as RateLimitOptions),
      ...(denied !== undefined && {
        handler: async (context, _next, decision) => {
          context.body = await denied(decision, context);
        },
      }),
    });
  const limited = (limit: Limit): Middleware =>
    limitsPerRequest ? (context, next) => create(limit)(context, next) : create(limit);
  const end: Middleware = async (context) => {
    const answer = {
      status: (code: number) => {
        context.status = code;
      },
      raw: context.res,
      takeOver: () => {
        context.respond = false;
      },
    };
    const result = await handler(context.state.rateLimit, answer);
    if (context.respond !== false) context.body = result;
  };

  const app = new modules.Koa({
    proxy: trustProxy !== false,
    ...(trustProxy !== 'all' && { maxIpsCount: 1 }),
  });
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
  if (!lateParser) app.use(parseBody);
  app.use(async (context, next) => {
    context.state.user = context.headers['x-user'];
    before?.(context.res);
    if (takesOver && context.res.headersSent) context.respond = false;
    await next();
  });
  app.use(requestContext());
  for (const limit of limits) app.use(limited(limit));
  if (lateParser) app.use(parseBody);
  for (const { at, limits: own = [], routes } of scopes) {
    const router = new modules.Router({ prefix: at });
    for (const limit of own) router.use(limited(limit));
    for (const [path, each] of Object.entries(routes)) router.get(path, ...each.map(limited), end);
    app.use(router.routes());
  }
  if (pages === undefined) app.use(end);
  else servePages(app, new modules.Router(), pages);
  const server = http2 ? createServer2(app.callback() as never) : createServer(app.callback());
  return listening(server.listen(0, '127.0.0.1') as Server);
}

function servePages(app: Koa, router: Router, pages: Readonly<Record<string, string>>): void {
  const send = (body: string) => (context: Context) => void Object.assign(context, { body });
  for (const [page, text] of Object.entries(pages))
    if (prefixOf(page) === undefined) router.get(page, send(text));
  app.use(router.routes() as never);
  for (const [page, text] of Object.entries(pages)) {
    const prefix = prefixOf(page);
    if (prefix === undefined) continue;
    app.use((context, next) =>
      `${context.path}/`.toLowerCase().startsWith(`${prefix}/`) ? send(text)(context) : next(),
    );
  }
}

/** Like @koa/bodyparser, which leaves GET alone. */
const parseBody: Middleware = async ({ request, req }, next) => {
  if (request.method !== 'GET') {
    let text = '';
    for await (const chunk of req) text += chunk;
    Object.assign(request, { body: text === '' ? undefined : JSON.parse(text) });
  }
  await next();
};

export const koa3: Framework = {
  name: 'Koa 3',
  serve: (service) => serveKoa(service),
  variants: { 'Koa 3 that responds itself': (service) => serveKoa(service, false) },
  ownOptions: ownOptions<RateLimitOptions>({ handler: true, max: true, duration: true }),
  names: { limit: 'max', window: 'duration' },
  headersOf: ({ headers }: Context) => headers,
  methodOf: ({ method }: Context) => method,
  socketOf: ({ socket }: Context) => socket,
  decisionOf: ({ state }: Context) => state.rateLimit,
};

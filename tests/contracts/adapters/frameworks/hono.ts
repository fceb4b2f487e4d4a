import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createServer2 } from 'node:http2';
import { Readable } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import {
  errorResponse,
  type RateLimitOptions,
  rateLimit,
  requestContext,
} from '../../../../packages/hono/src/index.js';
import {
  type Framework,
  type Limit,
  listening,
  nothing,
  ownOptions,
  prefixOf,
  type Service,
} from './framework.js';

interface AppEnv {
  Bindings: { incoming: IncomingMessage; outgoing: ServerResponse };
  // biome-ignore lint/suspicious/noExplicitAny: whatever a program adds
  Variables: any;
}

export async function serveHono({
  limits = [],
  scopes = [],
  handler = nothing,
  before,
  denied,
  errors = 'framework',
  pages,
  http2 = false,
  lateParser = false,
  limitsPerRequest = false,
}: Service) {
  const create = (limit: Limit) =>
    rateLimit<AppEnv>({
      ...(limit as unknown as RateLimitOptions<AppEnv>),
      ...(denied !== undefined && {
        handler: async (context, _next, decision) => context.json(await denied(decision, context)),
      }),
    });
  const limited = (limit: Limit): MiddlewareHandler =>
    limitsPerRequest ? (context, next) => create(limit)(context, next) : create(limit);
  const end = async (context: Context<AppEnv>) => {
    let status = 200;
    let taken = false;
    const answer = {
      status: (code: number) => {
        status = code;
      },
      raw: context.env.outgoing,
      takeOver: () => {
        taken = true;
      },
    };
    const result = await handler(context.get('rateLimit'), answer);
    if (taken) return RESPONSE_ALREADY_SENT;
    if (result instanceof Readable) return context.body(Readable.toWeb(result) as ReadableStream);
    if (status === 304) return context.body(null, 304);
    return context.json(result as object, status as never);
  };
  const app = new Hono<AppEnv>();
  app.onError((error, context) => {
    const {
      status = 500,
      code,
      headers = {},
    } = error as { status?: number; code?: string; headers?: Record<string, string> };
    if (errors === 'own') return context.json({ caught: code }, status as never);
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    return errorResponse(error, context) ?? context.json({ error: error.message }, status as never);
  });
  if (!lateParser) app.use(parseBody);
  app.use(async (context, next) => {
    context.set('user', context.req.header('x-user'));
    before?.(context.env.outgoing);
    await next();
  });
  app.use(requestContext());
  for (const limit of limits) app.use(limited(limit));
  if (lateParser) app.use(parseBody);
  for (const { at, limits: own = [], routes } of scopes) {
    const router = new Hono<AppEnv>();
    for (const limit of own) router.use(limited(limit));
    for (const [path, each] of Object.entries(routes)) router.get(path, ...(each.map(limited) as []), end);
    app.route(at, router);
  }
  for (const [page, text] of Object.entries(pages ?? {})) {
    const prefix = prefixOf(page);
    for (const path of prefix === undefined ? [page] : [prefix, page])
      app.get(path, (context) => context.text(text));
  }
  if (pages === undefined) app.all('*', end);
  const listener = getRequestListener(app.fetch as never);
  const server = http2 ? createServer2(listener as never) : createServer(listener);
  return listening(server.listen(0, '127.0.0.1') as Server);
}

/** What `validator('json', …)` of hono/validator does with a body. */
const parseBody: MiddlewareHandler = async ({ req }, next) => {
  if (req.method !== 'GET') {
    const text = await req.text();
    if (text !== '') req.addValidatedData('json', JSON.parse(text));
  }
  await next();
};

export const hono4: Framework = {
  name: 'Hono 4',
  serve: (service) => serveHono(service),
  cannot: {
    trustProxy: 'Hono has no such setting: pass getConnInfo',
    brokenStreams: '@hono/node-server ends the response with the message of the error',
    rawTargets: '@hono/node-server answers targets that are no URLs with 400',
  },
  ownOptions: ownOptions<RateLimitOptions>({ handler: true, limit: true, windowMs: true, getConnInfo: true }),
  names: { limit: 'limit', window: 'windowMs' },
  headersOf: ({ req }: Context) => req.header(),
  methodOf: ({ req }: Context) => req.method,
  socketOf: ({ env }: Context) => env.incoming.socket,
  decisionOf: (context: Context) => context.get('rateLimit'),
};

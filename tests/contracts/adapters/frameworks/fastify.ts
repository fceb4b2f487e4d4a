import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import {
  type RateLimitOptions,
  type RateLimitPluginOptions,
  rateLimit,
  requestContext,
} from '../../../../packages/fastify/src/index.js';
import {
  type Framework,
  type Limit,
  nothing,
  ownOptions,
  prefixOf,
  type Running,
  type Service,
} from './framework.js';

/** Those that the lowest version of the router knows: `app.all` adds newer ones. */
const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

export async function serveFastify(
  {
    limits = [],
    scopes = [],
    handler = nothing,
    before,
    denied,
    errors = 'framework',
    trustProxy,
    pages,
    http2 = false,
  }: Service,
  hook: 'onRequest' | 'preValidation' | 'preHandler' = 'preValidation',
  create = fastify,
): Promise<Running> {
  const options = (limit: Limit): RateLimitOptions => ({
    ...(limit as RateLimitOptions),
    ...(denied !== undefined && { handler: (request, _reply, decision) => denied(decision, request) }),
  });
  const end = async (request: FastifyRequest, reply: FastifyReply) => {
    const answer = {
      status: (code: number) => void reply.code(code),
      raw: reply.raw,
      takeOver: () => void reply.hijack(),
    };
    return handler(request.rateLimit ?? undefined, answer);
  };

  const app = create({
    http2: http2 as false,
    forceCloseConnections: !http2, // whatever a test left open
    ...(pages && { routerOptions: { caseSensitive: false } }),
    ...(trustProxy && { trustProxy: trustProxy === 'all' ? true : '127.0.0.1' }),
  });
  if (errors === 'own') {
    app.setErrorHandler<{ statusCode?: number; code?: string }>(
      ({ statusCode = 500, code }, _request, reply) => reply.code(statusCode).send({ caught: code }),
    );
  }
  app.decorateRequest('user', undefined);
  app.addHook('onRequest', async (request, reply) => {
    Object.assign(request, { user: request.headers['x-user'] });
    before?.(reply.raw);
  });
  await app.register(requestContext);
  await app.register(rateLimit);
  // Created before the limits of all routes, so they inherit nothing.
  const ofRoutes = scopes.map(({ routes }) =>
    Object.entries(routes).map(
      ([path, each]) => [path, each.map((limit) => app.rateLimit(options(limit)))] as const,
    ),
  );
  for (const limit of limits) await app.register(rateLimit, { ...options(limit), hook });
  for (const [i, { at, limits: own = [] }] of scopes.entries()) {
    await app.register(
      async (scope) => {
        for (const limit of own) await scope.register(rateLimit, { ...options(limit), hook });
        for (const [path, preHandler] of ofRoutes[i]!) scope.get(path, { preHandler }, end);
      },
      { prefix: at },
    );
  }
  for (const [page, text] of Object.entries(pages ?? {})) {
    const prefix = prefixOf(page);
    for (const path of prefix === undefined ? [page] : [prefix, page]) app.get(path, async () => text);
  }
  if (pages === undefined) app.route({ method: METHODS, url: '*', handler: end });
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
}

/** Fastify with the lowest version of its router that it accepts. */
function withOldRouter(): typeof fastify {
  let loaded: typeof fastify | undefined;
  jest.isolateModules(() => {
    jest.doMock('find-my-way', () => jest.requireActual('find-my-way-9-0'));
    loaded = require('fastify');
  });
  return loaded!;
}

export const fastify5: Framework = {
  name: 'Fastify 5',
  serve: (service) => serveFastify(service),
  variants: {
    'Fastify 5, onRequest': (service) => serveFastify(service, 'onRequest'),
    'Fastify 5, preHandler': (service) => serveFastify(service, 'preHandler'),
    'Fastify 5 with find-my-way 9.0': (service) => serveFastify(service, 'preValidation', withOldRouter()),
  },
  cannot: {
    lateParser: 'Fastify itself parses bodies, always before preValidation',
    limitsPerRequest: 'Fastify adds no hooks after its start: packages/fastify tests its error',
  },
  ownOptions: ownOptions<RateLimitPluginOptions>({
    global: true,
    hook: true,
    handler: true,
    errorResponseBuilder: true,
    max: true,
    timeWindow: true,
    groupId: true,
    onExceeding: true,
    onExceeded: true,
    ban: true,
    onBanReach: true,
  }),
  names: { limit: 'max', window: 'timeWindow' },
  headersOf: ({ headers }: FastifyRequest) => headers,
  methodOf: ({ method }: FastifyRequest) => method,
  socketOf: ({ raw }: FastifyRequest) => raw.socket,
  decisionOf: ({ rateLimit: decision }: FastifyRequest) => decision,
};

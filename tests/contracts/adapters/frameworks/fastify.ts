import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { type RateLimitOptions, rateLimit, requestContext } from '../../../../packages/fastify/src/index.js';
import { type Limit, nothing, type Running, type Service } from './service.js';

export async function serveFastify({
  limits = [],
  scopes = [],
  handler = nothing,
  before,
  denied,
  errors = 'framework',
  trustProxy,
}: Service): Promise<Running> {
  const options = (limit: Limit): RateLimitOptions => ({
    ...(limit as RateLimitOptions),
    ...(denied !== undefined && { handler: (request, _reply, decision) => denied(decision, request) }),
  });
  const end = async (request: FastifyRequest, reply: FastifyReply) => {
    const answer = { status: (code: number) => void reply.code(code), raw: reply.raw };
    return handler(request.rateLimit ?? undefined, answer);
  };

  const app = fastify({
    forceCloseConnections: true, // whatever a test left open
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
  for (const limit of limits) await app.register(rateLimit, { ...options(limit), hook: 'preValidation' });
  for (const [i, { at, limits: own = [] }] of scopes.entries()) {
    await app.register(
      async (scope) => {
        for (const limit of own)
          await scope.register(rateLimit, { ...options(limit), hook: 'preValidation' });
        for (const [path, preHandler] of ofRoutes[i]!) scope.get(path, { preHandler }, end);
      },
      { prefix: at },
    );
  }
  app.all('*', end);
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
}

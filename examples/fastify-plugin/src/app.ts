import { type Duration, fixedWindow, type Store, tokenBucket } from '@sluice/core';
import { rateLimit } from '@sluice/fastify';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';

/** A server with all limits in one store. @param deadline the longest wait for the store */
export async function createApp(store: Store, deadline: Duration = '100ms'): Promise<FastifyInstance> {
  const app = fastify();

  // Per client address, on all routes without their own settings. Other limits inherit the store and the deadline.
  await app.register(rateLimit, {
    global: true, // the default; with false only routes with a `config.rateLimit` are limited
    name: 'all',
    policy: tokenBucket({ capacity: 20, refill: 10, every: '1s' }),
    store,
    deadline,
  });
  app.get('/', async (request) => `hello, ${request.rateLimit?.remaining} left\n`);

  app.get('/health', { config: { rateLimit: false } }, async () => 'up\n');

  const search = fixedWindow({ limit: 3, window: '1m' });
  app.get('/search', { config: { rateLimit: { policy: search } } }, async () => 'found\n');

  // Two routes, one count.
  const exporting = { groupId: 'exports', policy: fixedWindow({ limit: 2, window: '1m' }) };
  app.get('/exports/csv', { config: { rateLimit: exporting } }, async () => 'a;b;c\n');
  app.get('/exports/pdf', { config: { rateLimit: exporting } }, async () => '%PDF\n');

  // By an e-mail address in the body, and by the client's address: a route's own limits replace the plugin's. Before 'preHandler' the
  // body is parsed, the schema has checked that it is text, and the route's hook has made all spellings of an address one.
  const email = { type: 'string', minLength: 3, maxLength: 200, pattern: '^\\s*[^\\s@]+@[^\\s@]+\\s*$' };
  const link = {
    schema: { body: { type: 'object', required: ['email'], properties: { email } } },
    preHandler: async (request: FastifyRequest) => {
      const body = request.body as { email: string };
      body.email = body.email.trim().toLowerCase();
    },
    config: {
      rateLimit: {
        hook: 'preHandler',
        limits: {
          perEmail: { policy: fixedWindow({ limit: 1, window: '1m' }), key: '#{body.email}' },
          perIp: { policy: fixedWindow({ limit: 20, window: '1h' }) },
        },
      },
    },
  } as const;
  app.post<{ Body: { email: string } }>('/login-links', link, async (request, reply) => {
    reply.code(202);
    return `a link for ${request.body.email} is on its way\n`;
  });
  return app;
}

import { type Duration, fixedWindow, type Store, tokenBucket } from '@sluice/core';
import { rateLimit } from '@sluice/fastify';
import fastify, { type FastifyInstance } from 'fastify';

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

  // By an e-mail address in the body. Before 'preHandler' the body is parsed, and the schema has checked that it is text.
  const email = { type: 'string', minLength: 3, maxLength: 200 };
  const link = {
    schema: { body: { type: 'object', required: ['email'], properties: { email } } },
    config: {
      rateLimit: {
        hook: 'preHandler',
        key: '#{body.email}',
        policy: fixedWindow({ limit: 1, window: '1m' }),
      },
    },
  } as const;
  app.post<{ Body: { email: string } }>('/login-links', link, async (request, reply) => {
    reply.code(202);
    return `a link for ${request.body.email} is on its way\n`;
  });
  return app;
}

import { type Duration, fixedWindow, RateLimiter, type Store, slidingLog, tokenBucket } from '@sluice/core';
import { rateLimit, rateLimitErrors } from '@sluice/express';
import express, { type Express } from 'express';

/** A server with all limits in one store. @param deadline the longest wait for the store */
export function createApp(store: Store, deadline: Duration = '100ms'): Express {
  const shared = { store, deadline };
  const app = express();
  app.set('trust proxy', 'loopback'); // trust only a proxy on this machine to name the client

  // Each client address: 10 requests a second, and bursts of 20.
  app.use(
    rateLimit({
      name: 'all',
      policy: tokenBucket({ capacity: 20, refill: 10, every: '1s' }),
      skip: ({ path }) => path === '/health',
      allowList: ['10.0.0.0/8'], // our own network
      ...shared,
    }),
  );
  app.get('/', (request, response) => {
    response.type('text').send(`hello, ${request.rateLimit?.remaining ?? 'no limit'} left\n`);
  });
  app.get('/health', (_request, response) => {
    response.type('text').send('up\n');
  });

  // An expensive route. Both limits count here, and each has its own headers.
  const reports = rateLimit({
    name: 'reports',
    policy: fixedWindow({ limit: 3, window: '1m' }),
    failurePolicy: 'deny', // without Redis: 503, rather than 3 in each process
    message: (_request, _response, { limit, retryAfter }) => ({
      error: `No more than ${limit} reports a minute`,
      retryInSeconds: Math.ceil(retryAfter / 1000),
    }),
    ...shared,
  });
  app.post('/reports', reports, (request, response) => {
    response.type('text').send(`your report; ${request.rateLimit?.remaining} left\n`);
  });

  // A limit in your own code: rateLimitErrors turns its error into a 429.
  const mails = new RateLimiter({ name: 'mails', policy: slidingLog({ limit: 2, window: '1m' }), ...shared });
  app.post('/mails', async (_request, response) => {
    await mails.acquire('everybody', { timeout: 0 });
    response.status(202).type('text').send('the mail is on its way\n');
  });

  app.use(rateLimitErrors());
  return app;
}

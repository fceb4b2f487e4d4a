import { type Duration, fixedWindow, type Store } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import express, { type Express } from 'express';

/** A server with two limits in one store. @param deadline the longest wait for the store */
export function createApp(store: Store, deadline: Duration = '100ms'): Express {
  const app = express();
  // Each client address: 3 requests a minute.
  app.use(rateLimit({ name: 'api', policy: fixedWindow({ limit: 3, window: '1m' }), store, deadline }));
  // A candidate: metrics show whom it would deny, and no client notices.
  app.use(
    rateLimit({
      name: 'stricter',
      policy: fixedWindow({ limit: 1, window: '1m' }),
      dryRun: true,
      onLimited: () => {},
      store,
      deadline,
    }),
  );
  app.get('/', (_request, response) => {
    response.type('text').send('hello\n');
  });
  return app;
}

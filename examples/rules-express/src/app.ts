import { type RequestRules, rateLimit } from '@sluice/express';
import express, { type Express } from 'express';

/** The plans of users, as a database has them. */
const PLANS: ReadonlyMap<string | undefined, string> = new Map([
  ['ann', 'free'],
  ['bob', 'pro'],
]);

/** A server whose limits are rules: to change one, edit `limits.yaml`. */
export function createApp(rules: RequestRules): Express {
  const app = express();
  app.set('trust proxy', 'loopback'); // trust only a proxy on this machine to name the client

  // Your authentication, which checks a token or a session: rules read `user.id` and `user.plan` of the request. A client that
  // invents a name must not get a limit of its own.
  app.use('/api', (request, response, next) => {
    const id = request.get('x-user');
    const plan = PLANS.get(id);
    if (plan === undefined) {
      response.status(401).type('text').send('who are you? Send x-user\n');
      return;
    }
    Object.assign(request, { user: { id, plan } });
    next();
  });

  app.use(rateLimit({ rules }));

  app.get('/health', (_request, response) => {
    response.type('text').send('up\n');
  });
  app.get('/api/items', (request, response) => {
    response.type('text').send(`items; ${request.rateLimit?.remaining} left\n`);
  });
  app.post('/api/reports', (_request, response) => {
    response.type('text').send('your report\n');
  });
  return app;
}

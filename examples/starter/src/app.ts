import { type Duration, fixedWindow, isKeyResolutionError, type Store } from '@sluice/core';
import { type Dashboard, nodeHandler } from '@sluice/dashboard';
import { configureSluice, prepareLimits } from '@sluice/decorators';
import { rateLimit, rateLimitErrors, requestContext } from '@sluice/express';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { LimiterController } from './limiter-controller.js';
import { LIVE_PAGE, page } from './page.js';
import { SmsController } from './sms-controller.js';

/**
 * The demo's routes, with all their limits in one store.
 * @param live the live page of that store
 * @param deadline the longest wait for the store
 */
export function createApp(store: Store, live: Dashboard, deadline: Duration = '100ms'): Express {
  configureSluice({ store, deadline });
  const limiter = new LimiterController(store, deadline);
  const sms = new SmsController();
  // The live page lists their limits before their first calls.
  for (const controller of [limiter, sms]) prepareLimits(controller);

  const app = express();
  app.get('/', page);
  app.use(LIVE_PAGE, nodeHandler(live));
  app.use(requestContext());
  app.get('/limiter/count', async (request, response) => {
    response.type('text').send(await limiter.count(request.query.key as string));
  });
  app.get('/limiter/rate', async (_request, response) => {
    response.type('text').send(await limiter.rate());
  });
  app.get('/limiter/rate2', async (_request, response) => {
    response.type('text').send(await limiter.rate2());
  });
  app.post('/sms/count', async (request, response) => {
    response.type('text').send(await sms.sendByCount(request.query));
  });
  app.post('/sms/rate', async (request, response) => {
    response.type('text').send(await sms.sendByRate(request.query));
  });

  const perAddress = rateLimit({
    name: 'hello',
    policy: fixedWindow({ limit: 5, window: '10s' }),
    store,
    deadline,
  });
  app.get('/hello', perAddress, (request, response) => {
    response.type('text').send(`hello, ${request.rateLimit?.remaining} left\n`);
  });
  app.use(rateLimitErrors(), inOneLine);
  return app;
}

/** Answers a request without its key: no phone number (400) or no client address (500). */
const inOneLine: ErrorRequestHandler = (error, _request, response, next) => {
  if (!isKeyResolutionError(error)) next(error);
  else response.status(error.status).type('text').send(`${error.message}\n`);
};

import { type Duration, RateLimiter, type Store, tokenBucket } from '@sluice/core';
import { rateLimitErrors } from '@sluice/express';
import express, { type ErrorRequestHandler, type Express, type Request } from 'express';
import { MeteredModel } from './metered-model.js';
import type { Model } from './model.js';

/** A server in front of a model, with the users' tokens in a store. @param deadline the longest wait for the store */
export function createApp(model: Model, store: Store, deadline: Duration = '100ms'): Express {
  const policy = tokenBucket({ capacity: 10_000, refill: 10_000, every: '1m' });
  const limiter = new RateLimiter({ name: 'tokens', policy, store, deadline });
  const metered = new MeteredModel(model, limiter, ({ message }) => console.error(message));

  const app = express();
  app.post('/chat', express.json({ limit: '16kb' }), async (request, response) => {
    const { prompt, maxTokens } = questionOf(request);
    response.json(await metered.complete(userOf(request), prompt, maxTokens));
  });
  app.get('/tokens', async (request, response) => {
    const { remaining } = await limiter.peek(userOf(request));
    response.json({ left: remaining });
  });
  app.use(rateLimitErrors(), inOneLine);
  return app;
}

/** The demo's users. Your server checks a token or a session: a client that invents a name must not get a limit of its own. */
const USERS = new Set(['ann', 'ben']);

function userOf(request: Request): string {
  const user = request.get('x-user');
  if (user === undefined || !USERS.has(user)) {
    throw Object.assign(new Error('Say who you are: x-user'), { status: 401 });
  }
  return user;
}

/** Within these bounds no request costs more than a user's limit. */
function questionOf({ body }: Request): { prompt: string; maxTokens: number } {
  const { prompt, maxTokens = 1000 } = body ?? {};
  if (typeof prompt === 'string' && Number.isInteger(maxTokens) && maxTokens >= 1 && maxTokens <= 4000) {
    return { prompt, maxTokens };
  }
  throw Object.assign(new Error('Give a prompt, which is text, and maxTokens from 1 to 4000'), {
    status: 400,
  });
}

/** Answers an invalid request (400, 401, 413) and a failure of the model (502). */
const inOneLine: ErrorRequestHandler = (error, _request, response, _next) => {
  response
    .status(error.status ?? 502)
    .type('text')
    .send(`${error.message}\n`);
};

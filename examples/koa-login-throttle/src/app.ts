import Router from '@koa/router';
import { type Duration, fixedWindow, type Store } from '@sluice/core';
import { type RateLimitMiddleware, rateLimit } from '@sluice/koa';
import Koa, { type Middleware } from 'koa';
import { isRight } from './passwords.js';
import { readJson } from './read-json.js';

/** A server that counts failed logins in a store. @param deadline the longest wait for the store */
export function createApp(store: Store, deadline: Duration = '100ms'): Koa {
  const app = new Koa();
  const router = new Router();
  router.post('/login', readJson(1024), readCredentials, throttle(store, deadline), async (context) => {
    const { account, password } = context.state.credentials as Credentials;
    if (await isRight(account, password)) {
      context.body = `welcome, ${account}\n`;
    } else {
      context.status = 401;
      context.body = 'no such account, or another password\n';
    }
  });
  app.use(router.routes());
  return app;
}

/** Five wrong passwords for an account in 15 min, and 20 from an address, whatever the accounts. */
export function throttle(store: Store, deadline: Duration): RateLimitMiddleware {
  return rateLimit({
    name: 'login',
    limits: {
      perIp: { policy: fixedWindow({ limit: 20, window: '15m' }) },
      perAccount: { policy: fixedWindow({ limit: 5, window: '15m' }), key: '#{body.account}' },
    },
    // Permits are taken first, and come back after the right password. So 1000 guesses at once pass no more often.
    skipSuccessfulRequests: true,
    requestWasSuccessful: ({ status }) => status !== 401, // an error of the server is no failed login
    store,
    deadline,
  });
}

interface Credentials {
  readonly account: string;
  readonly password: string;
}

const readCredentials: Middleware = async (context, next) => {
  const { body } = context.request as { body?: { account?: unknown; password?: unknown } | null };
  const { account, password } = body ?? {};
  if (typeof account !== 'string' || typeof password !== 'string' || account.trim() === '') {
    return context.throw(400, 'Give account and password, both text');
  }
  // `Ann ` and `ann` are one account, so they are one count.
  const credentials: Credentials = { account: account.trim().toLowerCase(), password };
  Object.assign(context.request, { body: credentials });
  context.state.credentials = credentials;
  await next();
};

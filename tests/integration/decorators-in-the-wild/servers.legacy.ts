import type { Server } from 'node:http';
import { isRateLimitExceededError } from '@sluice/core';
import { rateLimitErrors, requestContext } from '@sluice/express';
import { requestContext as koaRequestContext } from '@sluice/koa';
import express from 'express';
import Koa, { type Context, type Next } from 'koa';
import {
  createExpressServer,
  type ExpressErrorMiddlewareInterface,
  Middleware,
  type RoutingControllersOptions,
  useExpressServer,
  useKoaServer,
} from 'routing-controllers';

// biome-ignore lint/suspicious/noExplicitAny: each framework has its own requests
type Handler = (request: any, response: any, next: any) => any;

/** The error handler that the README gives for routing-controllers. */
@Middleware({ type: 'after' })
export class Errors implements ExpressErrorMiddlewareInterface {
  error(...[error, _request, response]: Parameters<ExpressErrorMiddlewareInterface['error']>) {
    if (isRateLimitExceededError(error)) response.status(error.status).set(error.headers);
    else response.status(error.httpCode ?? error.status ?? 500);
    response.json({ name: error.name, message: error.message });
  }
}

/** A header names the user who is signed in. */
const signIn: Handler = (request, _response, next) => {
  const id = request.headers['x-user'];
  if (id !== undefined) request.user = { id };
  next();
};

async function koaErrors(context: Context, next: Next) {
  try {
    await next();
  } catch (error) {
    const { status, httpCode, headers, message } = error as Error & Record<string, never>;
    context.status = httpCode ?? status ?? 500;
    if (isRateLimitExceededError(error)) context.set(headers!);
    context.body = { message };
  }
}

/** Without this option, routing-controllers uses all decorated middleware classes of the process. */
export class None {}

export type Listener = Server | Parameters<typeof import('supertest')>[0];

/** Each way to a server, with a handling of errors that answers denials. */
export const servers: Readonly<Record<string, (options: RoutingControllersOptions) => Listener>> = {
  'createExpressServer, its own Express 4': (options) => {
    @Middleware({ type: 'before', priority: 2 })
    class RequestContext {
      readonly use = requestContext() as Handler;
    }
    @Middleware({ type: 'before', priority: 1 })
    class SignIn {
      readonly use = signIn;
    }
    const middlewares = [RequestContext, SignIn, Errors];
    return createExpressServer({ ...options, middlewares, defaultErrorHandler: false });
  },
  'useExpressServer, Express 5': (options) => {
    const app = express().use(requestContext(), signIn);
    useExpressServer(app, { ...options, middlewares: [None], defaultErrorHandler: false });
    const others: express.ErrorRequestHandler = (error, _request, response, _next) => {
      response.status(error.httpCode ?? error.status ?? 500).json({ message: error.message });
    };
    return app.use(rateLimitErrors(), others);
  },
  'useKoaServer, Koa 3': (options) => {
    const app = new Koa();
    app.use(koaErrors).use(koaRequestContext());
    app.use((context, next) => {
      const id = context.get('x-user');
      if (id !== '') context.state.user = { id };
      return next();
    });
    useKoaServer(app, { ...options, middlewares: [None], defaultErrorHandler: false });
    return app.callback();
  },
};

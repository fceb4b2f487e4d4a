import { runWithRequest } from '@sluice/core/http';
import type { FastifyPluginCallback } from 'fastify';
import plugin from 'fastify-plugin';
import { FastifyRequestView } from './request.js';

const register: FastifyPluginCallback = (app, _options, registered) => {
  if (!app.hasDecorator(CONTEXT)) {
    app.decorate(CONTEXT, true);
    app.addHook('onRequest', (request, _reply, done) =>
      runWithRequest(new FastifyRequestView(request), done),
    );
    // A body's arrival ends the context that onRequest began: what comes after runs from the socket's event.
    app.addHook('preValidation', (request, _reply, done) =>
      runWithRequest(new FastifyRequestView(request), done),
    );
  }
  registered();
};

const CONTEXT = Symbol('sluice.request-context');

/**
 * Makes the request known to all that is called while it is served: decorated methods find addresses, users and request
 * fields by it. Register it before the routes.
 */
export const requestContext = plugin(register, { fastify: '5.x', name: '@sluice/fastify/request-context' });

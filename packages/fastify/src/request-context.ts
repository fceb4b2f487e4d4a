import { runWithRequest } from '@sluice/http';
import type { FastifyPluginCallback, onRequestHookHandler } from 'fastify';
import plugin from 'fastify-plugin';
import { FastifyRequestView } from './request.js';

const enter: onRequestHookHandler = (request, _reply, done) =>
  runWithRequest(new FastifyRequestView(request), done);

const register: FastifyPluginCallback = (app, _options, registered) => {
  if (!app.hasDecorator(CONTEXT)) {
    app.decorate(CONTEXT, true);
    app.addHook('onRequest', enter);
    // The body arrives in an event of the socket, outside the context that onRequest started.
    app.addHook('preValidation', enter);
  }
  registered();
};

const CONTEXT = Symbol('sluice.request-context');

/**
 * Makes the request available to all code that serves it: decorated methods read addresses, users and request fields from it.
 * Register it before the routes.
 */
export const requestContext = plugin(register, { fastify: '5.x', name: '@sluice/fastify/request-context' });

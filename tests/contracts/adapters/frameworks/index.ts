// One line for each framework: every contract test runs with each entry that these export.

export { express4, express5 } from './express.js';
export { fastify5 } from './fastify.js';
export { hono4 } from './hono.js';
export { koa3 } from './koa.js';

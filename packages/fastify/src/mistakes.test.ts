import { fixedWindow } from '@sluice/core';
import fastify, { type FastifyInstance } from 'fastify';
import { rateLimit } from './index.js';

/** Warnings that this process has emitted, because each is emitted once. */
const emitted = (globalThis as { [slot: symbol]: unknown })[Symbol.for('sluice.warnings')] as Set<string>;
let emitWarning: jest.SpiedFunction<(message: string, options: { code: string }) => void>;
let app: FastifyInstance;

beforeEach(() => {
  app = fastify();
  emitted.clear();
  emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => {}) as never;
});
afterEach(async () => {
  await app.close();
  emitWarning.mockRestore();
});

test('a limit created in a handler is an error of that request', async () => {
  const policy = fixedWindow({ limit: 1, window: '1h' });
  await app.register(rateLimit);
  app.get('/', { preHandler: (request, reply) => app.rateLimit({ policy })(request, reply) }, async () => '');
  await app.ready();
  const response = await app.inject('/');
  expect([response.statusCode, response.json().message]).toEqual([500, expect.stringContaining('addHook')]);
});

test('timeWindow: 60 of a route causes a warning', async () => {
  await app.register(rateLimit);
  app.get('/', { config: { rateLimit: { name: 'default', max: 5, timeWindow: 60 } } }, async () => '');
  await app.ready();
  expect(emitWarning.mock.calls.map(([text, { code }]) => `${code} ${text}`)).toEqual([
    "SLUICE_SHORT_WINDOW rateLimit: timeWindow: 60 of limit 'default' is 60 milliseconds. Write '60s' if you mean seconds, '60ms' " +
      'if you mean milliseconds',
  ]);
});

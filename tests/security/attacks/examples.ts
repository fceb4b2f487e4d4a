import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ManualClock, memoryStore } from '@sluice/core';
import { dashboard } from '@sluice/dashboard';
import { Rules } from '@sluice/rules';
import { createApp as express } from '../../../examples/express-basic/src/app.js';
import { createApp as fastify } from '../../../examples/fastify-plugin/src/app.js';
import { createApp as koa } from '../../../examples/koa-login-throttle/src/app.js';
import { createApp as model } from '../../../examples/llm-tokens/src/app.js';
import { createApp as observed } from '../../../examples/observability/src/app.js';
import { createApp as rulesExpress } from '../../../examples/rules-express/src/app.js';
import { createApp as codes } from '../../../examples/sms-verification/src/app.js';
import { createApp as starterApp } from '../../../examples/starter/src/app.js';
import type { Target } from './target.js';

/** Examples that serve no requests, or are attacked in their own tests. */
export const EXAMPLES_WITHOUT_REQUESTS = [
  'examples/chat', // app.test.ts: it limits dollars, not requests
  'examples/nest-controllers', // demo.deep.test.ts: NestJS is loaded in a process of its own
  'examples/payment-client', // outgoing calls
  'examples/simulate', // files for the command
];

/** Counts in memory, with a clock that does not move. */
const store = () => memoryStore({ clock: new ManualClock() });

const limitsFile = join(__dirname, '../../../examples/rules-express/limits.yaml');

const starter = (counts: ReturnType<typeof store>) =>
  starterApp(counts, dashboard(counts, { authorize: () => false }));

const fastifyServer = async () => {
  const app = await fastify(store());
  await app.ready();
  return app.server;
};

const ANN = ['ann', 'Ann', 'ANN', ' ann', 'ann ', '\tann\n'];

export const EXAMPLE_TARGETS: readonly Target[] = [
  {
    name: 'examples/express-basic: /',
    open: async () => express(store()),
    honest: { method: 'GET', path: '/' },
    most: 20,
    behindProxy: true,
  },
  {
    name: 'examples/express-basic: /reports',
    open: async () => express(store()),
    honest: { method: 'POST', path: '/reports' },
    most: 3,
    behindProxy: true,
  },
  {
    name: 'examples/fastify-plugin: /',
    open: fastifyServer,
    honest: { method: 'GET', path: '/' },
    most: 20,
  },
  {
    name: 'examples/fastify-plugin: /login-links',
    open: fastifyServer,
    honest: { method: 'POST', path: '/login-links', body: { email: 'ann@example.com' } },
    reached: [202],
    most: 20,
    field: 'email',
    spellings: [
      'ann@example.com',
      'Ann@example.com',
      'ANN@EXAMPLE.COM',
      ' ann@example.com',
      'ann@example.com ',
    ],
    mostForOne: 1,
  },
  {
    name: 'examples/koa-login-throttle',
    open: async () => {
      const app = koa(store());
      app.silent = true;
      return app.callback();
    },
    honest: { method: 'POST', path: '/login', body: { account: 'ann', password: 'wrong' } },
    reached: [200, 401],
    most: 20,
    field: 'account',
    spellings: ANN,
    mostForOne: 5,
  },
  {
    name: 'examples/sms-verification',
    open: async () => codes({ send: async () => {} }, store()),
    honest: { method: 'POST', path: '/codes', body: { phone: '+49 151 23456789' } },
    reached: [202],
    most: 10,
    field: 'phone',
    spellings: ['+49 151 23456789', '+4915123456789', '+49 (151) 234-567-89', '+49.151.2345.6789'],
    mostForOne: 1,
  },
  {
    name: 'examples/llm-tokens',
    open: async () => model({ complete: async () => ({ text: 'yes', tokens: 1000 }) }, store()),
    honest: {
      method: 'POST',
      path: '/chat',
      headers: { 'X-User': 'ann' },
      body: { prompt: 'hello', maxTokens: 1000 },
    },
    most: 10,
  },
  {
    name: 'examples/rules-express',
    open: async () => rulesExpress(new Rules(readFileSync(limitsFile, 'utf8'), { store: store() })),
    honest: { method: 'GET', path: '/api/items', headers: { 'X-User': 'ann' } },
    most: 3,
    behindProxy: true,
  },
  {
    name: 'examples/starter: /hello',
    open: async () => starter(store()),
    honest: { method: 'GET', path: '/hello' },
    most: 5,
  },
  {
    name: 'examples/starter: /sms/count',
    open: async () => starter(store()),
    honest: { method: 'POST', path: '/sms/count?phone=13800000000' },
    most: 1,
  },
  {
    name: 'examples/observability',
    open: async () => observed(store()),
    honest: { method: 'GET', path: '/' },
    most: 3,
  },
];

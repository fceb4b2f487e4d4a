import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { fixedWindow, ManualClock, memoryStore } from '@sluice/core';
import { Hono } from 'hono';
import { rateLimit } from './index.js';

const server = createServer();
afterEach((done) => {
  server.close(done);
});

test.each<[string, (write: () => void) => void, string | null]>([
  ['at once', (write) => write(), null],
  ['later', (write) => void setTimeout(write, 5), '"login";r=0;t=60'],
])(
  "a handler that writes Node's response itself %s keeps it, and its status counts",
  async (_, whenReady, headers) => {
    const limit = rateLimit({
      name: 'login',
      policy: fixedWindow({ limit: 1, window: '1m' }),
      store: memoryStore({ clock: new ManualClock() }),
      limitType: 'METHOD',
      skipSuccessfulRequests: true,
    });
    const app = new Hono().use(limit).get('/', (context) => {
      const { outgoing } = context.env as unknown as { outgoing: ServerResponse };
      whenReady(() => {
        outgoing.statusCode = 401;
        outgoing.end('own');
      });
      return RESPONSE_ALREADY_SENT;
    });
    server.removeAllListeners('request').on('request', getRequestListener(app.fetch));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const first = await fetch(url);
    expect([first.status, await first.text(), first.headers.get('RateLimit')]).toEqual([401, 'own', headers]);
    expect((await fetch(url)).status).toBe(429);
  },
);

import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fixedWindow, RateLimiter } from '@sluice/core';
import express, { type Express } from 'express';
import { rateLimit } from './index.js';

// tests/contracts/adapters/begun-responses.deep.test.ts has what every adapter does with a response that was already started.

const policy = fixedWindow({ limit: 1, window: '1h' });
let server: Server;
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** What a client receives for one request: a whole response or a broken one. */
async function received(app: Express): Promise<{ status: number; text: string; complete: boolean }> {
  if (!server?.listening) {
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const { port } = server.address() as AddressInfo;
  const [response] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  response.on('error', () => {}); // the error of a broken response
  await new Promise((resolve) => response.once('close', resolve));
  return { status: response.statusCode!, text, complete: response.complete };
}

test('a later write to the response does not end the process', async () => {
  const app = express();
  const written: unknown[] = [];
  app.use((_, response, next) => {
    response.write('begun');
    next();
    response.write('more', (error) => written.push(error));
  });
  app.use(rateLimit({ policy }));
  app.use((_, response) => void setImmediate(() => response.end()));
  expect((await received(app)).text).toBe('begunmore');
  expect(await received(app)).toEqual({ status: 200, text: 'begun', complete: true });
  expect(written).toEqual([null, expect.objectContaining({ code: 'ERR_STREAM_WRITE_AFTER_END' })]);
});

test('Express itself ends the response when a handler without a limit throws a denial', async () => {
  const limiter = new RateLimiter({ policy });
  const app = express()
    .set('env', 'test')
    .get('/', async (_, response) => {
      response.write('begun');
      await limiter.acquire('all', { timeout: 0 });
      response.end(', done');
    });
  expect(await received(app)).toEqual({ status: 200, text: 'begun, done', complete: true });
  expect((await received(app)).text).toBe('begun');
  await limiter.close();
});

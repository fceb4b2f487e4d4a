import { once } from 'node:events';
import { type ClientRequest, createServer, type RequestListener, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { concurrency } from '@sluice/core';
import { rateLimit as limitExpress } from '@sluice/express';
import { rateLimit as limitFastify } from '@sluice/fastify';
import express from 'express';
import fastify from 'fastify';

// The rules of docs/security.md for clients that send their bodies slowly.

const policy = concurrency({ limit: 2, lease: '30s' });
const shared = { policy, limitType: 'METHOD' as const };
let server: Server;
let slow: ClientRequest[] = [];

afterEach(async () => {
  for (const one of slow) one.destroy();
  slow = [];
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const ports = () => ({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });

/** Two clients that send only the beginning of a body. */
async function sendSlowly(): Promise<void> {
  let arrived = 0;
  const both = new Promise<void>((resolve) => {
    server.on('request', () => {
      arrived += 1;
      if (arrived === 2) setImmediate(resolve);
    });
  });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': 100 };
  slow = [1, 2].map(() => {
    const one = request({ ...ports(), method: 'POST', headers }).on('error', () => {});
    one.write('{');
    return one;
  });
  await both;
}

async function honest(): Promise<number> {
  const { port } = ports();
  const headers = { 'Content-Type': 'application/json' };
  return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: '{}' })).status;
}

const listen = async (listener: RequestListener) => {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
};

test.each<[string, boolean, number]>([
  ['in front of the body parser', true, 429],
  ['behind the body parser', false, 200],
])('Express: with a shared limit %s an honest client gets %3$d', async (_, first, status) => {
  const app = express().set('env', 'test');
  const [limit, parser] = [limitExpress(shared), express.json()];
  app.use(...(first ? [limit, parser] : [parser, limit]));
  app.post('/', (_request, response) => void response.end());
  await listen(app);
  await sendSlowly();
  expect(await honest()).toBe(status);
});

test.each([
  ['onRequest', 429],
  ['preParsing', 429],
  ['preValidation', 200],
  ['preHandler', 200],
] as const)('Fastify: with a shared limit in %s an honest client gets %d', async (hook, status) => {
  const app = fastify({ serverFactory: (handler) => (server = createServer(handler)) });
  await app.register(limitFastify, { ...shared, hook });
  app.post('/', async () => '');
  await app.listen({ port: 0, host: '127.0.0.1' });
  await sendSlowly();
  expect(await honest()).toBe(status);
});

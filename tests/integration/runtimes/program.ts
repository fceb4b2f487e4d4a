import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Decision,
  fixedWindow,
  isRateLimitExceededError,
  memoryStore,
  RateLimiter,
  redisStore,
  type Store,
} from '@sluice/core';
import { Limit } from '@sluice/decorators';
import { rateLimit as expressLimit } from '@sluice/express';
import { rateLimit as fetchLimit } from '@sluice/fetch';
import { rateLimit as honoLimit, type RateLimitVariables } from '@sluice/hono';
import { upstream } from '@sluice/outgoing';
import { sqliteStore } from '@sluice/sqlite';
import express from 'express';
import { Hono, type MiddlewareHandler } from 'hono';
import type { GetConnInfo } from 'hono/conninfo';

// Runs in Bun and Deno, with the packages as users install them. Its arguments: the URL of a Redis.

type Handler = (request: Request, env: object) => Response | Promise<Response>;

/** What a runtime has of its own. */
interface Runtime {
  readonly name: string;
  readonly getConnInfo: GetConnInfo;
  serve(handler: Handler): Promise<{ readonly url: string; stop(): unknown }>;
}

interface BunServer {
  readonly port: number;
  stop(now: boolean): unknown;
}
interface DenoServer {
  readonly addr: { readonly port: number };
  shutdown(): unknown;
}
declare const Bun: { serve(options: object): BunServer } | undefined;
declare const Deno: { serve(options: object, handler: Handler): DenoServer } | undefined;

const hostname = '127.0.0.1';

async function runtimeHere(): Promise<Runtime> {
  if (typeof Bun !== 'undefined') {
    const { getConnInfo } = await import('hono/bun');
    const serve: Runtime['serve'] = async (fetch) => {
      const server = Bun.serve({ port: 0, hostname, fetch });
      return { url: `http://${hostname}:${server.port}`, stop: () => server.stop(true) };
    };
    return { name: 'Bun', getConnInfo, serve };
  }
  if (typeof Deno === 'undefined') throw new Error('Run it with Bun or Deno');
  const { getConnInfo } = await import('hono/deno');
  const serve: Runtime['serve'] = async (handler) => {
    const server = Deno.serve({ port: 0, hostname, onListen() {} }, handler);
    return { url: `http://${hostname}:${server.addr.port}`, stop: () => server.shutdown() };
  };
  return { name: 'Deno', getConnInfo, serve };
}

const [redisUrl] = process.argv.slice(2);
const runtime = await runtimeHere();
const policy = fixedWindow({ limit: 3, window: '1h' });
let names = 0;
const newName = (): string => {
  names += 1;
  return `${runtime.name}-${process.pid}-${names}`;
};

async function check(what: string, run: () => Promise<void>): Promise<void> {
  await run();
  console.log(`${runtime.name}: ${what}`);
}

async function limitsCalls(store: Store): Promise<void> {
  const limiter = new RateLimiter({ name: newName(), policy, store, failurePolicy: 'deny', deadline: '5s' });
  const calls = await Promise.all(Array.from({ length: 5 }, () => limiter.consume('ann')));
  assert.deepEqual(calls.filter(({ degraded }: Decision) => degraded).length, 0);
  assert.deepEqual(calls.filter(({ allowed }: Decision) => allowed).length, 3);
  await limiter.close();
  await store.close();
}

/** Five requests of one client, and one of another. */
async function limitsRequests(url: string): Promise<void> {
  const statuses: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const response = await fetch(url);
    await response.text();
    statuses.push(response.status);
    if (i === 0) assert.match(response.headers.get('ratelimit')!, /;r=2;/);
  }
  assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
}

await check('a limiter counts in memory', () => limitsCalls(memoryStore()));
await check('a limiter counts in Redis', () => limitsCalls(redisStore(redisUrl!)));
await check('a limiter counts in SQLite', async () => {
  const file = `${newName()}.db`;
  await limitsCalls(sqliteStore(file));
  rmSync(file);
});

await check('Hono limits each address', async () => {
  const app = new Hono<{ Variables: RateLimitVariables }>();
  const limit = honoLimit({ name: newName(), policy, getConnInfo: runtime.getConnInfo });
  app.use(limit as MiddlewareHandler);
  app.get('/', (context) => context.text(String(context.var.rateLimit?.remaining)));
  const server = await runtime.serve((request, env) => app.fetch(request, env));
  await limitsRequests(server.url);
  await server.stop();
});

await check('fetch limits requests of a server of the runtime', async () => {
  const limit = fetchLimit({ name: newName(), policy });
  const server = await runtime.serve(async (request) => {
    const denied = await limit(request, { ip: '192.0.2.1' });
    return denied ?? limit.complete(request, new Response('hello'));
  });
  await limitsRequests(server.url);
  await server.stop();
});

await check('Express limits each address', async () => {
  const app = express();
  app.use(expressLimit({ name: newName(), policy, store: redisStore(redisUrl!) }));
  app.get('/', (_, response) => void response.send('hello'));
  const server = createServer(app);
  await new Promise<void>((done) => server.listen(0, hostname, done));
  await limitsRequests(`http://${hostname}:${(server.address() as AddressInfo).port}`);
  server.close();
});

await check('a decorator limits a method', async () => {
  class Mail {
    @Limit(fixedWindow({ limit: 1, window: '1h' }))
    async send(): Promise<string> {
      return 'sent';
    }
  }
  const mail = new Mail();
  assert.equal(await mail.send(), 'sent');
  await assert.rejects(mail.send(), isRateLimitExceededError);
});

await check('an upstream waits for its limit', async () => {
  const server = await runtime.serve(() => new Response('hello'));
  const limits = { requests: fixedWindow({ limit: 2, window: '100ms' }) };
  const client = upstream({ name: newName(), origin: server.url, limits });
  const answers = await Promise.all([1, 2, 3].map(async () => (await client.fetch('/')).text()));
  assert.deepEqual(answers, Array(3).fill('hello'));
  await client.close();
  await server.stop();
});

process.exit();

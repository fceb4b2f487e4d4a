import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import express from 'express';
import Koa from 'koa';
import supertest from 'supertest';
import { fixedWindow } from '../../../packages/core/src/index.js';
import * as ofExpress from '../../../packages/express/src/index.js';
import * as ofKoa from '../../../packages/koa/src/index.js';
import { Rules } from '../../../packages/rules/src/index.js';

// A body parser behind the limit: a mistake of the server, in every framework that allows it.

const policy = fixedWindow({ limit: 1, window: '1h' });
const rules = () =>
  new Rules({
    rules: [
      {
        name: 'ai',
        match: { path: '/*' },
        cost: '#{body.tokens}',
        limit: { fixedWindow: { limit: 2, window: '1h' } },
      },
    ],
  });

/** Like @koa/bodyparser, which leaves GET alone. */
const parseBody: Koa.Middleware = async ({ request, req }, next) => {
  if (request.method === 'POST') Object.assign(request, { body: await json(req) });
  await next();
};

/** A server whose parser is in front of the limit, or behind it. */
type Serve = (
  options: ofExpress.RateLimitOptions & ofKoa.RateLimitOptions,
  parserFirst: boolean,
) => RequestListener;

const frameworks: Record<string, Serve> = {
  Express(options, parserFirst) {
    const all = [express.json(), ofExpress.rateLimit(options)];
    const app = express().set('env', 'test');
    app.use(...(parserFirst ? all : all.reverse()));
    return app.all('/', (_request, response) => void response.send('ok'));
  },
  Koa(options, parserFirst) {
    const all = [parseBody, ofKoa.rateLimit(options)];
    const app = new Koa();
    app.silent = true;
    for (const one of parserFirst ? all : all.reverse()) app.use(one);
    app.use((context) => {
      context.body = 'ok';
    });
    return app.callback();
  },
};

describe.each(Object.entries(frameworks))('%s', (_, serve) => {
  let close = async () => {};
  const start = async (...given: Parameters<Serve>) => {
    const server = createServer(serve(...given));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    close = () => new Promise((resolve) => server.close(() => resolve()));
    return supertest(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  };
  let warned: jest.SpiedFunction<typeof process.emitWarning>;
  beforeEach(() => {
    (globalThis as { [slot: symbol]: Set<string> })[Symbol.for('sluice.warnings')]?.clear();
    warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  });
  afterEach(async () => {
    warned.mockRestore();
    await close();
  });

  test.each([
    ['a key', () => ({ policy, key: '#{body.phone}' })],
    ['several limits', () => ({ limits: { perPhone: { policy, key: '#{body.phone}' } } })],
    ['the cost of a rule', () => ({ rules: rules() })],
  ])('%s of a body that is parsed later is a 500 that says so, for every client', async (_, options) => {
    const client = await start(options(), false);
    for (const phone of ['1', '1', '2']) {
      const { text } = await client.post('/').send({ phone, tokens: 1 }).expect(500);
      expect(text).not.toContain('#{');
    }
    expect(warned).toHaveBeenCalledTimes(1);
    expect(`${warned.mock.calls[0]}`).toContain('Put a body parser in front of the limit');
  });

  test('with the parser in front, a missing value is a 400, and a missing cost is 1', async () => {
    const keyed = await start({ policy, key: '#{body.phone}' }, true);
    await keyed.post('/').send({ phone: '1' }).expect(200);
    await keyed.post('/').send({}).expect(400);
    await keyed.get('/').expect(400);
    await close();
    const ruled = await start({ rules: rules() }, true);
    await ruled.post('/').send({ tokens: 3 }).expect(429);
    await ruled.get('/').expect(200);
    await ruled.post('/').send({}).expect(200);
    await ruled.get('/').expect(429);
    expect(warned).not.toHaveBeenCalled();
  });
});

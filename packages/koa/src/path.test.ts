import Router from '@koa/router';
import { fixedWindow } from '@sluice/core';
import Koa, { type Middleware } from 'koa';
import supertest from 'supertest';
import { rateLimit } from './index.js';

const limit = (key: string) => rateLimit({ policy: fixedWindow({ limit: 1, window: '1h' }), key });

/** Like koa-mount: removes the prefix from the path while `inner` runs. */
const mount =
  (prefix: string, inner: Middleware): Middleware =>
  async (context, next) => {
    const before = context.path;
    if (!before.startsWith(prefix)) return next();
    Object.assign(context, { mountPath: prefix });
    context.path = before.slice(prefix.length) || '/';
    await inner(context, async () => {});
    context.path = before;
  };

const statuses = async (app: Pick<Koa, 'callback'>, ...paths: string[]) => {
  const all = [];
  for (const path of paths) all.push((await supertest(app.callback()).get(path)).status);
  return all;
};
const ok: Middleware = (context) => {
  context.body = 'ok';
};

test('a path includes the prefixes of its mounts', async () => {
  const app = new Koa();
  const shared = limit('#{path}');
  const limited: Middleware = (context, next) => shared(context, () => Promise.resolve(ok(context, next)));
  app.use(mount('/a', mount('/b', limited)));
  app.use(mount('/c', limited));
  expect(await statuses(app, '/a/b/x', '/c/x', '/a/b/x?n=1', '/a/b', '/a/b/', '/c', '/c/')).toEqual([
    200, 200, 429, 200, 429, 200, 429,
  ]);
});

test('paths ignore case, unless the router is case sensitive', async () => {
  const routed = (sensitive: boolean) => {
    const router = new Router({ sensitive });
    router.get('/users/:id', limit('#{path}'), ok);
    return new Koa().use(router.routes());
  };
  expect(await statuses(routed(false), '/users/ann', '/USERS/ann', '/users/Ann')).toEqual([200, 429, 429]);
  expect(await statuses(routed(true), '/users/ann', '/USERS/ann', '/users/Ann')).toEqual([200, 404, 200]);
});

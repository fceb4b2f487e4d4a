import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type Router from '@koa/router';
import type express from 'express';
import type fastify from 'fastify';
import type Koa from 'koa';
import { serveExpress } from '../contracts/adapters/frameworks/express.js';
import { serveFastify } from '../contracts/adapters/frameworks/fastify.js';
import type { Framework } from '../contracts/adapters/frameworks/framework.js';
import { serveKoa } from '../contracts/adapters/frameworks/koa.js';
import { withLock } from '../support/redis/lock.js';
import { run } from '../support/run.js';
import { reached, serveTargets } from './request-targets.js';

/** The oldest and the newest version of each peer, and versions between them that changed how they read targets. */
const VERSIONS = {
  'find-my-way': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((minor) => `9.${minor}.0`).concat('9.10.1'),
  fastify: ['5.0.0', '5.2.1', '5.5.0', '5.12.8'],
  express: ['4.18.0', '4.20.0', '4.22.3', '5.0.0', '5.1.0', '5.3.0'],
  koa: ['2.15.0', '2.16.4', '3.0.0', '3.3.0'],
  '@koa/router': ['8.0.8', '9.4.0', '10.1.1', '12.0.2', '13.1.1', '14.0.0', '15.7.0'],
};

const cache = resolve(__dirname, '../../node_modules/.cache');
const folder = join(cache, 'sluice-routers');
const aliasOf = (name: string, version: string) => `${name.replace(/\W/g, '')}-${version}`;

/** Installs all versions, once for all runs. */
async function install(): Promise<void> {
  const pairs = Object.entries(VERSIONS).flatMap(([name, all]) =>
    all.map((version) => [name, version] as const),
  );
  const dependencies = Object.fromEntries(pairs.map(([name, v]) => [aliasOf(name, v), `npm:${name}@${v}`]));
  const complete = () =>
    pairs.every(([name, v]) => existsSync(join(folder, 'node_modules', aliasOf(name, v))));
  await mkdir(cache, { recursive: true });
  await withLock(`${folder}.lock`, async () => {
    if (complete()) return;
    const fresh = `${folder}-${process.pid}`;
    await mkdir(fresh, { recursive: true });
    await writeFile(join(fresh, 'package.json'), JSON.stringify({ private: true, dependencies }));
    const { ok, output } = await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
      cwd: fresh,
    });
    if (!ok) throw new Error(`npm could not install the routers:\n${output}`);
    await rm(folder, { recursive: true, force: true });
    await rename(fresh, folder);
  });
}

beforeAll(install, 180_000);

function load<M>(name: keyof typeof VERSIONS, version: string): M {
  const required = createRequire(join(folder, 'package.json')).resolve(aliasOf(name, version));
  const module = require(required);
  return module.default ?? module;
}

function fastifyWith(version: string, router: string): typeof fastify {
  let loaded: typeof fastify | undefined;
  jest.isolateModules(() => {
    jest.doMock('find-my-way', () => load('find-my-way', router), { virtual: true });
    loaded = load('fastify', version);
  });
  return loaded!;
}

/** Each version of a router in the newest framework, and each version of the framework with the oldest and the newest router. */
function combinations(
  versions: readonly string[],
  routers: readonly string[],
): (readonly [string, string])[] {
  const newest = versions.at(-1)!;
  const others = versions.slice(0, -1);
  return [
    ...routers.map((router) => [newest, router] as const),
    ...others.flatMap((version) =>
      [routers[0]!, routers.at(-1)!].map((router) => [version, router] as const),
    ),
  ];
}
const servers: Record<string, Framework['serve']> = {};
for (const version of VERSIONS.express) {
  servers[`Express ${version}`] = (service) =>
    serveExpress(load<typeof express>('express', version), service);
}
for (const http2 of [false, true]) {
  const over = http2 ? ' over HTTP/2' : '';
  for (const version of VERSIONS.fastify) {
    servers[`Fastify ${version}${over}`] = (service) =>
      serveFastify({ ...service, http2 }, 'onRequest', load('fastify', version));
  }
  for (const [version, router] of combinations(['5.0.0', '5.12.8'], VERSIONS['find-my-way'])) {
    servers[`Fastify ${version} with find-my-way ${router}${over}`] = (service) =>
      serveFastify({ ...service, http2 }, 'onRequest', fastifyWith(version, router));
  }
  for (const [version, router] of combinations(VERSIONS.koa, VERSIONS['@koa/router'])) {
    servers[`Koa ${version} with its router ${router}${over}`] = (service) =>
      serveKoa({ ...service, http2 }, true, {
        Koa: load<typeof Koa>('koa', version),
        Router: load<typeof Router>('@koa/router', router),
      });
  }
}

test.each(Object.keys(servers))('%s: no request target reaches a handler uncounted', async (name) => {
  const { url, close } = await serveTargets(servers[name]!);
  const { found, uncounted } = await reached(url, name.endsWith('HTTP/2'));
  await close();
  expect(uncounted).toEqual([]);
  expect(found).toEqual(expect.arrayContaining(['/v1/login', 'http://a/v1/login', '/search/../health']));
});

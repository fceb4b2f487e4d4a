import Router from '@koa/router';
import express from 'express';
import express4 from 'express-4';
import fastify from 'fastify';
import Koa from 'koa';
import { reached, type Served, serveExpress, serveFastify, serveKoa } from './request-targets.js';

/** Fastify with the lowest version of its router that it accepts. */
function oldFastify(): typeof fastify {
  let loaded: typeof fastify | undefined;
  jest.isolateModules(() => {
    jest.doMock('find-my-way', () => jest.requireActual('find-my-way-9-0'));
    loaded = require('fastify');
  });
  return loaded!;
}

const servers: Readonly<Record<string, () => Promise<Served>>> = {
  'Express 4': () => serveExpress(express4),
  'Express 5': () => serveExpress(express),
  Koa: () => serveKoa(Koa, Router),
  'Koa with HTTP/2': () => serveKoa(Koa, Router, true),
  Fastify: () => serveFastify(fastify),
  'Fastify with HTTP/2': () => serveFastify(fastify, true),
  'Fastify with find-my-way 9.0': () => serveFastify(oldFastify()),
  'Fastify with find-my-way 9.0 and HTTP/2': () => serveFastify(oldFastify(), true),
};

test.each(Object.keys(servers))('%s: no request target reaches a handler uncounted', async (name) => {
  const server = await servers[name]!();
  const { found, uncounted } = await reached(server);
  await server.close();
  expect(uncounted).toEqual([]);
  expect(found).toEqual(
    expect.arrayContaining(['/v1/login', 'http://a/v1/login', '/search/../x', '/search/../health']),
  );
});

import express from 'express';
import express4 from 'express-4';
import { serveExpress } from './express.js';
import { serveFastify } from './fastify.js';
import { serveKoa } from './koa.js';
import type { Running, Service } from './service.js';

export interface Adapter {
  readonly name: string;
  /** Listens on 127.0.0.1. The header `x-user` names the user. JSON bodies are parsed before the limits. */
  serve(service: Service): Promise<Running>;
}

export const adapters: readonly Adapter[] = [
  { name: 'Express 5', serve: (service) => serveExpress(express, service) },
  { name: 'Express 4', serve: (service) => serveExpress(express4, service) },
  { name: 'Koa 3', serve: serveKoa },
  { name: 'Fastify 5', serve: serveFastify },
];

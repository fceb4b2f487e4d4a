import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.legacy.js';

const { PORT = '3000', PLATFORM = 'express', REDIS_URL } = process.env;

const adapter = PLATFORM === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
const app = await NestFactory.create(AppModule, adapter, { logger: ['warn', 'error'] });
app.enableShutdownHooks();
await app.listen(PORT, '127.0.0.1');

const { port } = app.getHttpServer().address() as AddressInfo;
const url = `http://127.0.0.1:${port}`;
console.log(`Nest on ${PLATFORM} at ${url}, limits in ${REDIS_URL ? 'Redis' : 'memory'}

  POST ${url}/sms              @CountLimit: 1 code per number in 60 s
  GET  ${url}/sms/gateway      a service's @CountLimit: 2 per address in 10 s
  GET  ${url}/sms/health       @SkipLimit
  POST ${url}/account/login    RateLimitGuard: 3 per account in 10 s
  all of these                 SluiceModule: 100 per address in 60 s

Try these; the 429 tells in Retry-After when the next 2xx comes:

  for i in 1 2; do curl -si '${url}/sms' -d phone=13800000000 | grep -iE '^(HTTP|retry-after)'; done
  for i in 1 2 3; do curl -si '${url}/sms/gateway' | grep -iE '^(HTTP|retry-after)'; done
  for i in 1 2 3 4; do curl -si '${url}/account/login' -d email=ann@example.com | grep -iE '^(HTTP|retry-after)'; done
`);

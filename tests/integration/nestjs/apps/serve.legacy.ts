import 'reflect-metadata';
import { type INestApplication, type Type, ValidationPipe } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';

export const adapter = (): AbstractHttpAdapter =>
  process.env.PLATFORM === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();

/** Serves on a free port of PLATFORM until standard input ends. */
export async function serve(
  module: Type,
  prepare: (app: INestApplication) => void = () => {},
): Promise<void> {
  const app = await NestFactory.create(module, adapter(), { logger: ['warn', 'error'], abortOnError: false });
  app.useGlobalPipes(new ValidationPipe({ transform: true }));
  prepare(app);
  await app.listen(0, '127.0.0.1');
  console.log(await app.getUrl());
  process.stdin.resume().once('end', () => {
    app.close().then(
      () => console.log('closed'),
      (error: unknown) => {
        console.error(error);
        process.exitCode = 1;
      },
    );
  });
}

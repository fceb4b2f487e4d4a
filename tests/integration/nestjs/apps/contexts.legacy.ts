import 'reflect-metadata';
import { Injectable, Module, UseGuards } from '@nestjs/common';
import { ExternalContextCreator, NestFactory } from '@nestjs/core';
import { concurrency, fixedWindow } from '@sluice/core';
import { CountLimit } from '@sluice/decorators';
import { RateLimitGuard, SluiceModule } from '@sluice/nestjs';
import { isObservable, lastValueFrom } from 'rxjs';
import { adapter } from './serve.legacy.js';

const policy = fixedWindow({ limit: 1, window: '1h' });

@Injectable()
class Handlers {
  plain(): string {
    return 'passed';
  }

  @CountLimit({ key: '#{type}', limit: 1, period: 3600, limitType: 'CUSTOM' })
  async decorated(type: string): Promise<string> {
    return `passed ${type}`;
  }

  @UseGuards(RateLimitGuard({ policy }))
  guarded(): string {
    return 'passed';
  }

  @UseGuards(
    RateLimitGuard({
      name: 'known',
      policy,
      getRequestResponse: (context) => ({ req: context.getArgByIndex(1) }),
    }),
  )
  known(): string {
    return 'passed';
  }

  @UseGuards(
    RateLimitGuard({
      policy: concurrency({ limit: 1 }),
      name: 'held',
      getRequestResponse: (context) => ({ req: context.getArgByIndex(1) }),
    }),
  )
  held(): string {
    return 'passed';
  }

  @UseGuards(RateLimitGuard({ policy, getRequestResponse: () => ({ req: 'nobody' }) }))
  unknown(): string {
    return 'passed';
  }
}

@Module({ imports: [SluiceModule.forRoot({ limit: { policy } })], providers: [Handlers] })
class AppModule {}

/** Messages other than HTTP, through Nest's own way to call handlers with guards and filters. */
const app = await NestFactory.create(AppModule, adapter(), { logger: ['warn'] });
await app.init();
const creator = app.get(ExternalContextCreator);
const handlers = app.get(Handlers);

async function call(type: string, method: keyof Handlers, request: object): Promise<string> {
  const handler = creator.create(
    handlers,
    handlers[method] as () => unknown,
    method,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    type,
  );
  try {
    const result: unknown = await handler(type, request);
    return String(isObservable(result) ? await lastValueFrom(result) : result);
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : JSON.stringify(error);
  }
}

const answers: Record<string, string[]> = {};
for (const type of ['rpc', 'ws', 'graphql']) {
  const seen: string[] = [];
  const request = { ip: `192.0.2.${type.length}`, headers: {} }; // as all fields of a GraphQL operation share it
  const methods = [
    'plain',
    'plain',
    'decorated',
    'decorated',
    'guarded',
    'known',
    'known',
    'held',
    'unknown',
  ] as const;
  for (const method of methods) {
    seen.push(await call(type, method, request));
  }
  answers[type] = seen;
}
await app.close();
console.log(JSON.stringify(answers));

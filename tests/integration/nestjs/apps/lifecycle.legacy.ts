import 'reflect-metadata';
import { Controller, Get, Injectable, Module, type Type, UseFilters, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { type Call, fixedWindow, memoryStore, type Store } from '@sluice/core';
import { CountLimit } from '@sluice/decorators';
import { RateLimitGuard, SluiceExceptionFilter, SluiceModule } from '@sluice/nestjs';
import { adapter } from './serve.legacy.js';

const policy = fixedWindow({ limit: 1, window: '1h' });
const Guard = RateLimitGuard({ name: 'guard', policy });

@Injectable()
class Service {
  @CountLimit({ limit: 1, period: 3600, limitType: 'IP' })
  async work(): Promise<string> {
    return 'passed';
  }
}

@Controller()
class Hello {
  constructor(readonly service: Service) {}

  @Get('decorated')
  decorated(): Promise<string> {
    return this.service.work();
  }

  @Get('guarded')
  @UseGuards(Guard)
  @UseFilters(SluiceExceptionFilter)
  guarded(): string {
    return 'passed';
  }
}

const moduleWith = (sluice: Parameters<typeof SluiceModule.forRoot>[0]): Type => {
  @Module({ imports: [SluiceModule.forRoot(sluice)], controllers: [Hello], providers: [Service] })
  class AppModule {}
  return AppModule;
};

const quiet = { logger: false, abortOnError: false } as const;
type App = Awaited<ReturnType<typeof NestFactory.create>>;

/** The answers to two requests of each path. */
async function served(app: App): Promise<string[]> {
  await app.listen(0, '127.0.0.1');
  const answers: string[] = [];
  for (const path of ['decorated', 'decorated', 'guarded', 'guarded']) {
    const response = await fetch(`${await app.getUrl()}/${path}`);
    answers.push(`${path} ${response.status} ${response.headers.get('content-type')?.split(';')[0]}`);
    await response.text();
  }
  await app.close();
  return answers;
}

async function failureOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'no failure';
  } catch (error) {
    return String(error);
  }
}

const start = (module: Type) => NestFactory.create(module, adapter(), quiet);
const wrong = (sluice: unknown) => failureOf(() => start(moduleWith(sluice as never)));

/** Rejects calls after it is closed, as a Redis store does. */
function endingStore(): Store {
  const store = memoryStore();
  const decide = store.decide.bind(store);
  let closed = false;
  return Object.assign(store, {
    decide: async (call: Call) => {
      if (closed) throw new Error('closed');
      return decide(call);
    },
    close: async () => {
      closed = true;
    },
  });
}

const cases: Record<string, () => Promise<unknown>> = {
  'one application after another': async () => {
    const module = moduleWith({ store: () => memoryStore() });
    return [await served(await start(module)), await served(await start(module))];
  },
  'a store of an earlier application': async () => {
    const module = moduleWith({ store: memoryStore() });
    await served(await start(module));
    return failureOf(() => start(module));
  },
  'two applications at the same time': async () => {
    const [one, other] = [await start(moduleWith({})), await start(moduleWith({ store: endingStore }))];
    return [await served(other), await served(one)];
  },
  'a testing module': async () => {
    const testing = await Test.createTestingModule({ imports: [moduleWith({})] }).compile();
    return served(testing.createNestApplication(adapter(), quiet));
  },
  'an application without a server': async () => {
    const app = await NestFactory.createApplicationContext(moduleWith({ limit: { policy } }), quiet);
    const failure = await failureOf(() => app.get(Service).work());
    await app.close();
    return failure;
  },
  'wrong options': async () => [
    await wrong({ stor: 1 }),
    await wrong({ store: 5 }),
    await wrong({ store: () => undefined }),
    await wrong({ user: 'id' }),
    await wrong({ limit: {} }),
    await wrong({ limit: { policy, limits: null } }),
    await wrong({ limit: { policy, polcy: 1 } }),
    await failureOf(async () => RateLimitGuard({ policy: 5 } as never)),
    await failureOf(async () => RateLimitGuard(undefined as never)),
  ],
};

async function main(): Promise<void> {
  const results: Record<string, unknown> = {};
  for (const [name, work] of Object.entries(cases)) results[name] = await work();
  console.log(JSON.stringify(results));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});

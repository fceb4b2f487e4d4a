import { Controller, Get, Injectable, Module, Post, UseGuards } from '@nestjs/common';
import { type Duration, type FailurePolicy, fixedWindow, redisStore } from '@sluice/core';
import { CountLimit, SkipLimit } from '@sluice/decorators';
import { RateLimitGuard, SluiceModule, type SluiceModuleOptions } from '@sluice/nestjs';
import { serve } from './serve.legacy.js';

@Injectable()
class Config {
  readonly redis = process.env.REDIS;
  readonly prefix = process.env.PREFIX ?? 'test';
}

@Module({ providers: [Config], exports: [Config] })
class ConfigModule {}

const options = ({ redis, prefix }: Config): SluiceModuleOptions => ({
  ...(redis !== undefined && { store: redisStore(redis) }),
  keyPrefix: prefix,
  deadline: (process.env.DEADLINE ?? '5s') as Duration,
  failurePolicy: (process.env.FAILURE ?? 'local') as FailurePolicy,
  user: ({ headers }) => (headers as Record<string, string>)['x-user'],
  limit: {
    limits: {
      perUser: { policy: fixedWindow({ limit: 2, window: '1h' }), limitType: 'USER' },
      everybody: { policy: fixedWindow({ limit: 8, window: '1h' }), limitType: 'METHOD' },
    },
  },
});

@Controller()
class Hello {
  @Get()
  hello(): string {
    return 'hello';
  }

  @SkipLimit()
  @Get('health')
  health(): string {
    return 'well';
  }

  @UseGuards(
    RateLimitGuard({ name: 'guard', policy: fixedWindow({ limit: 1, window: '1h' }), limitType: 'USER' }),
  )
  @Get('guarded')
  guarded(): string {
    return 'passed';
  }

  @SkipLimit()
  @Post('code')
  @CountLimit({ limit: 1, period: 3600, limitType: 'USER' })
  async code(): Promise<string> {
    return 'sent';
  }
}

const sluice =
  process.env.CONFIGURED === 'forRoot'
    ? SluiceModule.forRoot(options(new Config()))
    : SluiceModule.forRootAsync({ imports: [ConfigModule], inject: [Config], useFactory: options });

@Module({ imports: [sluice], controllers: [Hello] })
class AppModule {}

await serve(AppModule);

import { Controller, Get, Module, Post, UseGuards } from '@nestjs/common';
import { fixedWindow } from '@sluice/core';
import { Limit, SkipLimit } from '@sluice/decorators';
import { OverrideLimit, RateLimitGuard, SluiceModule } from '@sluice/nestjs';
import { Rules } from '@sluice/rules';
import { serve } from './serve.legacy.js';

const rules = new Rules({
  name: 'shop',
  rules: [
    {
      name: 'perUser',
      match: { path: '/*', not: { path: '/guarded' } },
      key: '#{headers.x-user}',
      limit: { fixedWindow: { limit: 2, window: '1h' } },
      reply: { status: 420, body: { error: 'slow down' } },
    },
    {
      name: 'guarded',
      match: { path: '/guarded' },
      key: '#{headers.x-user}',
      limit: { fixedWindow: { limit: 1, window: '1h' } },
    },
    { name: 'code', key: '#{headers.x-user}', limit: { fixedWindow: { limit: 1, window: '1h' } } },
  ],
});
const guarded = new Rules({
  name: 'guard',
  rules: [
    { name: 'all', match: { path: '/*' }, key: 'METHOD', limit: { fixedWindow: { limit: 1, window: '1h' } } },
  ],
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

  @SkipLimit('shop')
  @UseGuards(RateLimitGuard({ rules: guarded }))
  @Get('guarded')
  guarded(): string {
    return 'passed';
  }

  @OverrideLimit({ policy: fixedWindow({ limit: 3, window: '1h' }) })
  @Get('own')
  own(): string {
    return 'own';
  }

  @SkipLimit()
  @Post('code')
  @Limit('code')
  async code(): Promise<string> {
    return 'sent';
  }
}

@Module({ imports: [SluiceModule.forRoot({ rules })], controllers: [Hello] })
class AppModule {}

await serve(AppModule);

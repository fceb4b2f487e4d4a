import { type CanActivate, Controller, Get, Module, type Type, UseGuards } from '@nestjs/common';
import { fixedWindow } from '@sluice/core';
import { OverrideLimit, RateLimitGuard, SkipLimit, SluiceModule } from '@sluice/nestjs';
import { serve } from './serve.legacy.js';

/** The mistake of the application, for tests of a failing start. */
const { WRONG } = process.env;

const perHour = (limit: number) => fixedWindow({ limit, window: '1h' });
const Shared = RateLimitGuard({
  limits: {
    shared: { policy: perHour(1), limitType: 'METHOD' },
    user: { policy: perHour(2), limitType: 'USER' },
  },
});

@Controller('account')
class Account {
  /** Its own guard still applies. */
  @SkipLimit()
  @UseGuards(RateLimitGuard({ name: 'login', policy: perHour(1), limitType: 'METHOD' }))
  @Get('login')
  login(): string {
    return 'passed';
  }

  @OverrideLimit({ policy: perHour(1), ...(WRONG === 'override' && { timeout: -1 }) })
  @Get('code')
  code(): string {
    return 'passed';
  }

  @OverrideLimit({ cost: { perUser: 2, everybody: 1 } })
  @Get('report')
  report(): string {
    return 'passed';
  }

  @SkipLimit('everybody')
  @Get('quiet')
  quiet(): string {
    return 'passed';
  }

  @SkipLimit('evrybody')
  @Get('misspelt')
  misspelt(): string {
    return 'passed';
  }

  @SkipLimit('default')
  @Get('free')
  free(): string {
    return 'passed';
  }

  @Get()
  get(): string {
    return 'passed';
  }
}

@SkipLimit()
@UseGuards(Shared)
@Controller('guarded')
class Guarded {
  @Get()
  get(): string {
    return 'passed';
  }

  @SkipLimit('shared')
  @Get('user')
  user(): string {
    return 'passed';
  }

  @SkipLimit()
  @Get('free')
  free(): string {
    return 'passed';
  }
}

@OverrideLimit({ policy: perHour(2), limitType: 'METHOD', name: 'few', statusCode: 503 })
@Controller('few')
class Few {
  @Get('one')
  one(): string {
    return 'passed';
  }

  @Get('other')
  other(): string {
    return 'passed';
  }

  @OverrideLimit({ policy: perHour(1), limitType: 'METHOD' })
  @Get('fewer')
  fewer(): string {
    return 'passed';
  }

  @SkipLimit()
  @Get('free')
  free(): string {
    return 'passed';
  }
}

const limits = {
  perUser: { policy: perHour(3), limitType: 'USER' },
  everybody: { policy: perHour(100), limitType: 'METHOD' },
} as const;

const withoutParentheses = RateLimitGuard as unknown as Type<CanActivate>;

@UseGuards(...(WRONG === 'guard' ? [withoutParentheses] : []))
@Controller('wrong')
class Wrong {}

@Module({
  imports: [
    ...(WRONG === 'module' ? [SluiceModule] : []),
    ...(WRONG !== 'module' && WRONG !== 'no module'
      ? [
          SluiceModule.forRoot({
            user: ({ headers }) => (headers as Record<string, string>)['x-user'],
            limit: { limits, statusCode: 420 },
          }),
        ]
      : []),
  ],
  controllers: [Account, Guarded, Few, Wrong],
})
class AppModule {}

await serve(AppModule);

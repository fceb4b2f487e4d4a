// The blocks of the README (see readme.deep.test.ts), and a server around them.

import { Body, Controller, Get, Module, Post, UseGuards } from '@nestjs/common';
import { fixedWindow, redisStore } from '@sluice/core';
import { CountLimit, OverrideLimit, RateLimitGuard, SkipLimit, SluiceModule } from '@sluice/nestjs';
import { serve } from './serve.legacy.js';

@Controller('sms')
export class SmsController {
  /** One code per phone number in 60 s. The decorator may stand below @Post, too. */
  @CountLimit({ key: '#{body.phone}', limit: 1, period: 60, limitType: 'CUSTOM' })
  @Post()
  async send(@Body() body: { phone: string }) {
    return `sent to ${body.phone}`;
  }

  @SkipLimit() // skips the module's limit, and guards of the controller
  @Get('health')
  health() {
    return 'up';
  }
}

@Controller('account')
export class AccountController {
  @UseGuards(
    RateLimitGuard({ name: 'login', policy: fixedWindow({ limit: 5, window: '1m' }), key: '#{body.email}' }),
  )
  @Post('login')
  login() {
    return 'welcome';
  }

  @OverrideLimit({ policy: fixedWindow({ limit: 3, window: '1m' }) }) // replaces the module's limit
  @Post('code')
  code() {
    return 'sent';
  }
}

@Module({
  imports: [
    SluiceModule.forRoot({
      store: redisStore(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'),
      deadline: '30s', // of the tests
      limit: { policy: fixedWindow({ limit: 100, window: '1m' }) }, // for each client address
    }),
  ],
  controllers: [SmsController, AccountController],
})
export class AppModule {}

class ConfigService {
  get(name: string): string {
    return process.env[name]!;
  }
}

@Module({ providers: [ConfigService], exports: [ConfigService] })
class ConfigModule {}

const sluice = SluiceModule.forRootAsync({
  imports: [ConfigModule],
  inject: [ConfigService],
  useFactory: (config: ConfigService) => ({ store: redisStore(config.get('REDIS_URL')) }),
});

const ReportsGuard = RateLimitGuard({
  name: 'reports',
  limitType: 'USER', // set by an earlier guard
  policy: fixedWindow({ limit: 10, window: '1h' }),
  skip: (context) => context.switchToHttp().getRequest().headers['x-job'] !== undefined,
});

@UseGuards(ReportsGuard)
@Controller('reports')
class ReportsController {
  @Get()
  get() {
    return 'report';
  }
}

@Module({ imports: [sluice], controllers: [ReportsController] })
class ReportsModule {}

await serve(process.env.MODULE === 'reports' ? ReportsModule : AppModule);

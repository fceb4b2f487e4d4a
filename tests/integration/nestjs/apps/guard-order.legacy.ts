import { type CanActivate, Controller, Get, Module, UnauthorizedException } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { fixedWindow } from '@sluice/core';
import { SluiceModule } from '@sluice/nestjs';
import { serve } from './serve.legacy.js';

/** Where the guard that refuses every request is provided. */
const { PLACE } = process.env;

class Refuse implements CanActivate {
  canActivate(): never {
    throw new UnauthorizedException();
  }
}

const provider = { provide: APP_GUARD, useClass: Refuse };

@Module({ providers: [provider] })
class AuthModule {}

@Controller()
class AppController {
  @Get()
  get(): string {
    return 'passed';
  }
}

@Module({
  imports: [
    ...(PLACE === 'a module imported before' ? [AuthModule] : []),
    SluiceModule.forRoot({ limit: { policy: fixedWindow({ limit: 1, window: '1h' }) } }),
    ...(PLACE === 'a module imported after' ? [AuthModule] : []),
  ],
  controllers: [AppController],
  providers: PLACE === 'the root module' ? [provider] : [],
})
class AppModule {}

await serve(AppModule, (app) => {
  if (PLACE === 'useGlobalGuards') app.useGlobalGuards(new Refuse());
});

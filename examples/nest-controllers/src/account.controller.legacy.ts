import { Body, Controller, Post, UseGuards } from '@nestjs/common';
import { fixedWindow } from '@sluice/core';
import { RateLimitGuard } from '@sluice/nestjs';
import { emailOf } from './fields.js';

/** Three attempts in 10 s for each account, in the module's store. Guards run before pipes, so the key reads the body itself. */
const LoginGuard = RateLimitGuard({
  name: 'login',
  policy: fixedWindow({ limit: 3, window: '10s' }),
  keyGenerator: (context) => emailOf(context.switchToHttp().getRequest().body?.email),
});

@Controller('account')
export class AccountController {
  @UseGuards(LoginGuard)
  @Post('login')
  login(@Body('email', { transform: emailOf }) email: string): string {
    return `welcome, ${email}\n`;
  }
}

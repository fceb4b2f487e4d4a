import { Body, Controller, Post, UseGuards } from '@nestjs/common';
import { fixedWindow } from '@sluice/core';
import { RateLimitGuard } from '@sluice/nestjs';

/** Three attempts in 10 s for each account, in the module's store. */
const LoginGuard = RateLimitGuard({
  name: 'login',
  policy: fixedWindow({ limit: 3, window: '10s' }),
  key: '#{body.email}',
});

@Controller('account')
export class AccountController {
  @UseGuards(LoginGuard)
  @Post('login')
  login(@Body() body: { email: string }): string {
    return `welcome, ${body.email}\n`;
  }
}

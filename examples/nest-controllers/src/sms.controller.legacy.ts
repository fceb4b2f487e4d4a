import { Body, Controller, Get, Post } from '@nestjs/common';
import { CountLimit, SkipLimit } from '@sluice/decorators';
import { phoneOf } from './fields.js';
import { GatewayService } from './gateway.service.legacy.js';

@Controller('sms')
export class SmsController {
  constructor(private readonly gateway: GatewayService) {}

  /** One code per phone number in 60 s. */
  @CountLimit({ key: '#{phone}', limit: 1, period: 60, limitType: 'CUSTOM' })
  @Post()
  async send(@Body('phone', { transform: phoneOf }) phone: string): Promise<string> {
    return this.gateway.send(phone);
  }

  @Get('gateway')
  status(): Promise<string> {
    return this.gateway.status();
  }

  /** Not counted by the module's limit of 100 requests a minute. */
  @SkipLimit()
  @Get('health')
  health(): string {
    return 'well\n';
  }
}

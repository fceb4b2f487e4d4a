import { CountLimit, LimitType, RateLimit } from '@sluice/decorators';

/** One code per phone number in 60 s, both ways. */
export class SmsController {
  @CountLimit({ key: '#{params.phone}', limit: 1, period: 60, limitType: LimitType.CUSTOM })
  async sendByCount(params: { phone?: unknown }): Promise<string> {
    return `code sent to ${params.phone}\n`;
  }

  @RateLimit({ key: '#{params.phone}', rate: 1 / 60, burst: 60, expire: 120, limitType: LimitType.CUSTOM })
  async sendByRate(params: { phone?: unknown }): Promise<string> {
    return `code sent to ${params.phone}\n`;
  }
}

import { Injectable } from '@nestjs/common';
import { CountLimit, RateLimit } from '@sluice/decorators';

/** Decorators limit services as they limit controllers, and know the current request. */
@Injectable()
export class GatewayService {
  /** Five a second for all callers together. A call waits up to 2 s. */
  @RateLimit({ rate: 5, timeout: 2 })
  async send(phone: string): Promise<string> {
    return `code sent to ${phone}\n`;
  }

  /** Two in 10 s for each client address. */
  @CountLimit({ limit: 2, period: 10, limitType: 'IP' })
  async status(): Promise<string> {
    return 'the gateway is up\n';
  }
}

import { Injectable } from '@nestjs/common';
import { CountLimit, RateLimit } from '@sluice/decorators';

/** Services are limited as controllers are, and know the request they are called for. */
@Injectable()
export class GatewayService {
  /** Five a second for all callers together; a call waits up to 2 s for its turn. */
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

import type { Decision } from '@sluice/core';
import { noEffect, warnOnce } from '@sluice/core/internal';
import type { RequestLimitOptions } from './request-limit-options.js';
import type { RequestLimiter } from './request-limiter.js';
import type { RuledCall } from './request-rules.js';
import type { ResponseView } from './views.js';

/** Releases what a request holds when its response is over, and refunds the permits of requests that do not count. */
export class RefundOnFinish<Args extends readonly unknown[]> {
  /** Whether some requests do not count by the options: `skipSuccessfulRequests`, `skipFailedRequests`. */
  readonly refunds: boolean;

  constructor(
    where: string,
    private readonly options: RequestLimitOptions<Args>,
  ) {
    const { skipSuccessfulRequests, skipFailedRequests, requestWasSuccessful, rules } = options;
    this.refunds = skipSuccessfulRequests === true || skipFailedRequests === true;
    if (requestWasSuccessful !== undefined && !this.refunds && rules === undefined)
      throw noEffect(where, 'requestWasSuccessful', 'without skipSuccessfulRequests or skipFailedRequests');
  }

  /**
   * Waits for the end of the response of an allowed request.
   * @param refund of a call by rules
   */
  listen(
    { limiter }: RequestLimiter,
    decision: Decision,
    response: ResponseView,
    args: Args,
    refund?: RuledCall['refund'],
  ): void {
    const { skipSuccessfulRequests, skipFailedRequests, requestWasSuccessful } = this.options;
    const end = async (complete: boolean): Promise<void> => {
      let finish = () => limiter.release(decision);
      try {
        if (this.refunds || refund !== undefined) {
          const successful =
            requestWasSuccessful === undefined
              ? complete && response.status < 400
              : await requestWasSuccessful(...args);
          // A client that disconnects must not get its permits back as after a success.
          const counts = successful && !complete;
          if (!counts && (successful ? skipSuccessfulRequests : skipFailedRequests))
            finish = () => limiter.refund(decision);
          else if (!counts && refund !== undefined) finish = () => refund(decision, successful);
        }
      } finally {
        await finish();
      }
    };
    response.whenOver((complete) => {
      end(complete).catch((error: unknown) => {
        // The permits stay used, or held until their lease ends: too few requests may pass, never too many.
        const text = `Limit '${decision.name}' could not refund or release permits: ${error}`;
        warnOnce('SLUICE_REFUND_LOST', decision.name, text);
      });
    });
  }
}

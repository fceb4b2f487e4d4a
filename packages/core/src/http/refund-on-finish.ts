import type { Decision } from '../decision.js';
import { noEffect } from '../options.js';
import { warnOnce } from '../warnings.js';
import type { CountingOptions } from './request-limit-options.js';
import type { RequestLimiter } from './request-limiter.js';
import type { ResponseView } from './views.js';

/** Releases what a request holds when its response is over, and refunds the permits of requests that do not count. */
export class RefundOnFinish<Args extends readonly unknown[]> {
  /** Whether some requests do not count: `skipSuccessfulRequests`, `skipFailedRequests`. */
  readonly refunds: boolean;
  readonly #options: CountingOptions<Args>;

  /** @throws TypeError naming the invalid option */
  constructor(where: string, options: CountingOptions<Args>) {
    const { skipSuccessfulRequests, skipFailedRequests, requestWasSuccessful } = options;
    this.refunds = skipSuccessfulRequests === true || skipFailedRequests === true;
    if (requestWasSuccessful !== undefined && !this.refunds) {
      throw noEffect(where, 'requestWasSuccessful', 'without skipSuccessfulRequests or skipFailedRequests');
    }
    this.#options = options;
  }

  /** Waits for the end of the response of an allowed request. */
  listen({ limiter }: RequestLimiter, decision: Decision, response: ResponseView, args: Args): void {
    response.whenOver((complete) => {
      this.#finish(limiter, decision, response, complete, args).catch((error: unknown) => {
        // The permits stay used, or held until their lease ends: too few requests may pass, never too many.
        warnOnce(
          'SLUICE_REFUND_LOST',
          decision.name,
          `Limit '${decision.name}' could not refund or release permits: ${error}`,
        );
      });
    });
  }

  async #finish(
    limiter: RequestLimiter['limiter'],
    decision: Decision,
    response: ResponseView,
    complete: boolean,
    args: Args,
  ): Promise<void> {
    const { skipSuccessfulRequests, skipFailedRequests, requestWasSuccessful } = this.#options;
    let counts = true;
    try {
      if (this.refunds) {
        const successful =
          requestWasSuccessful === undefined
            ? complete && response.status < 400
            : await requestWasSuccessful(...args);
        // A client that disconnects must not get its permits back as after a success.
        counts = !(successful ? complete && skipSuccessfulRequests : skipFailedRequests);
      }
    } finally {
      await (counts ? limiter.release(decision) : limiter.refund(decision));
    }
  }
}

import type { Decision } from '../limiter/decision.js';
import { checkBoolean } from '../options.js';
import { warnOnce } from '../warnings.js';
import { checkFunction } from './check-function.js';
import type { Limited } from './limited.js';
import type { CountingOptions } from './request-limit-options.js';
import type { ResponseView } from './response-view.js';

type GiveBack<Args> = (limited: Limited, decision: Decision, response: ResponseView, args: Args) => void;

/**
 * What is given back when a request's response is over: what it held, and all that it took when such requests do not count.
 * @throws TypeError naming the option that is wrong
 */
export function givingBack<Args extends readonly unknown[]>(
  where: string,
  { skipSuccessfulRequests, skipFailedRequests, requestWasSuccessful }: CountingOptions<Args>,
): GiveBack<Args> {
  checkBoolean(`${where}: skipSuccessfulRequests`, skipSuccessfulRequests);
  checkBoolean(`${where}: skipFailedRequests`, skipFailedRequests);
  checkFunction(`${where}: requestWasSuccessful`, requestWasSuccessful);
  const judged = skipSuccessfulRequests === true || skipFailedRequests === true;
  if (requestWasSuccessful !== undefined && !judged) {
    throw new TypeError(
      `${where}: requestWasSuccessful has no effect without skipSuccessfulRequests or skipFailedRequests`,
    );
  }
  const giveBack = async (
    limiter: Limited['limiter'],
    decision: Decision,
    response: ResponseView,
    complete: boolean,
    args: Args,
  ): Promise<void> => {
    let counts = true;
    try {
      if (judged) {
        const successful =
          requestWasSuccessful === undefined
            ? complete && response.status < 400
            : await requestWasSuccessful(...args);
        counts = !(successful ? skipSuccessfulRequests : skipFailedRequests);
      }
    } finally {
      await (counts ? limiter.release(decision) : limiter.refund(decision));
    }
  };
  return ({ limiter, holds }, decision, response, args) => {
    if (!decision.allowed || !(holds || judged)) return;
    response.whenOver((complete) => {
      giveBack(limiter, decision, response, complete, args).catch((error: unknown) => {
        // The permits stay spent, or held until their lease ends: too few requests may pass then, never too many.
        warnOnce(
          'SLUICE_REFUND_LOST',
          decision.name,
          `Limit '${decision.name}' could not give permits back: ${error}`,
        );
      });
    });
  };
}

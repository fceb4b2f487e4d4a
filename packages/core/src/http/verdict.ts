import type { Decision } from '../decision.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { OwnLimiter } from './own-limiter.js';
import type { Reply } from './reply.js';
import type { RequestView } from './request-view.js';
import type { ResponseView } from './response-view.js';

/** What is to be done with a request. */
export type Verdict =
  | {
      readonly outcome: 'passed';
      /** Undefined when the request was skipped. */
      readonly decision?: Decision;
    }
  | {
      readonly outcome: 'denied';
      /** Undefined when no limit was exceeded: the request is on the `denyList`, or the store is out. */
      readonly decision?: Decision;
      /** The answer, unless the adapter's user has one. At once where nothing is to be waited for. */
      reply(): MaybePromise<Reply>;
    }
  /** Somebody has answered already, or the client left while the request waited: there is nobody to answer. */
  | { readonly outcome: 'gone' };

/** What an adapter calls for each request. */
export interface RequestLimit<Args extends readonly unknown[]> extends OwnLimiter {
  /**
   * Decides, and sets the headers of `response`. What the request holds or does not count is given back when the response is
   * over. At once where nothing is to be waited for. Throws, or rejects, as `RateLimiter.consume` does, with `throw` also for denials.
   */
  handle(request: RequestView, response: ResponseView, ...args: Args): MaybePromise<Verdict>;
}

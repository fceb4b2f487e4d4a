import type { Decision } from '../limiter/decision.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { Keys } from './key-of-request.js';
import type { OwnLimiter } from './own-limiter.js';
import type { Reply } from './reply.js';
import type { RequestCheck } from './request-check.js';
import type { RequestView } from './request-view.js';
import type { ResponseView } from './response-view.js';

/** What is to be done with a request. */
export type Verdict =
  | {
      readonly outcome: 'passed';
      /** Undefined when the request was skipped. */
      readonly decision?: Decision;
      /** The key that was counted. Undefined if none was. */
      readonly keys?: Keys;
    }
  | {
      readonly outcome: 'denied';
      /** Undefined when no limit was exceeded: the request is on the `denyList`, or the store is out. */
      readonly decision?: Decision;
      readonly keys?: Keys;
      /**
       * The response, unless the application sends its own. Synchronous unless something is awaited.
       * @param status overrides the status of the options
       */
      reply(status?: number): MaybePromise<Reply>;
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
  /** Connects a remote store at server start. Never rejects because a store is out or not set up correctly. */
  connect(): Promise<void>;
  /** Decides without a response: sets no headers and gives nothing back. */
  check: RequestCheck<Args>;
}

import type { Decision } from '@sluice/core';
import type { MaybePromise } from '@sluice/core/internal';
import type { Reply } from './reply.js';
import type { Keys } from './request-limit-options.js';

/** What an adapter does with a request. */
export type Verdict =
  | {
      readonly outcome: 'passed';
      /** Undefined if the request was skipped. */
      readonly decision?: Decision;
      /** The key that was counted. Undefined if none was. */
      readonly keys?: Keys;
    }
  | {
      readonly outcome: 'denied';
      /** Undefined if no limit was exceeded: the request is on the `denyList`, or the store is out. */
      readonly decision?: Decision;
      readonly keys?: Keys;
      /** Of the rule that denied, if it has one. */
      readonly status?: number | undefined;
      /**
       * The response, unless the application sends its own. Synchronous unless something is awaited.
       * @param status overrides the status of the rule and of the options
       */
      reply(status?: number): MaybePromise<Reply>;
    }
  /** The response has already started, or the client disconnected during the wait: there is nothing to answer. */
  | { readonly outcome: 'aborted' };

/** Synchronous unless something was awaited. */
export type Outcome = MaybePromise<Verdict>;

export const SKIPPED: Verdict = { outcome: 'passed' };
export const ABORTED: Verdict = { outcome: 'aborted' };

/** The result of a check without a response. */
export interface CheckedRequest {
  /** Empty if no rule is enforced, and for a request without a key that is skipped or on the `allowList`. */
  readonly key: string;
  /** Undefined for a request that is skipped or on the `allowList`, and if no rule is enforced. */
  readonly decision?: Decision;
}

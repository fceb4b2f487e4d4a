import type { Decision } from '@sluice/core';

/** A decision with the words of `express-rate-limit` for it. */
export interface RateLimitInfo extends Decision {
  /** Permits taken, with those that this request asked for, also when it is denied. A denied request takes none. */
  readonly used: number;
  /** When every permit is back, by the clock of this process. */
  readonly resetTime: Date;
}

/** A denial, with what the answer would have been. */
export interface DenialInfo extends RateLimitInfo {
  /** The option `statusCode`; default 429. */
  readonly statusCode: number;
  /** One sentence in English. */
  readonly message: string;
}

/** Puts `used` and `resetTime` on the decision itself: `refund` takes no copies. */
export function withInfo(decision: Decision): RateLimitInfo {
  const { limit, remaining, allowed, cost, resetAfter } = decision;
  return Object.assign(decision, {
    used: limit - remaining + (allowed ? 0 : cost),
    resetTime: new Date(Date.now() + resetAfter),
  });
}

export const denialInfo = (decision: Decision, statusCode: number): DenialInfo =>
  Object.assign(decision as RateLimitInfo, {
    statusCode,
    message: 'Too many requests, please try again later.',
  });

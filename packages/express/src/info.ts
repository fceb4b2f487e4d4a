import type { Decision } from '@sluice/core';

/** A decision with the names of `express-rate-limit`. */
export interface RateLimitInfo extends Decision {
  /** Permits taken, including those of this request, also if it is denied. A denied request takes none. */
  readonly used: number;
  /** The same as `used`. */
  readonly current: number;
  /** When every permit is back, by the clock of this process. */
  readonly resetTime: Date;
}

/** A denial, with the status and the message of its answer. */
export interface DenialInfo extends RateLimitInfo {
  /** Of the reply of the rule that denied, otherwise the option `statusCode`; default 429. */
  readonly statusCode: number;
  /** One sentence in English. */
  readonly message: string;
}

/** The usage of a key, with the names of `express-rate-limit`. */
export interface ClientRateLimitInfo {
  readonly totalHits: number;
  readonly resetTime: Date;
}

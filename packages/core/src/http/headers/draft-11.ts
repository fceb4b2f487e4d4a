import type { Decision } from '../../decision.js';

/** The longest integer of RFC 9651: 15 digits. */
const LARGEST = 999_999_999_999_999;
const integer = (value: number) => String(Math.min(LARGEST, Math.max(0, value)));
const seconds = (ms: number) => integer(Math.ceil(ms / 1000));

/** An RFC 9651 string. Limiter names are checked to be printable ASCII without quotes or backslashes. */
const string = (text: string) => `"${text}"`;

/** `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-11: `"login";q=5;w=60`, q permits in w seconds. */
export const rateLimitPolicy = (decision: Decision): string =>
  `${string(decision.name)};q=${integer(decision.limit)};w=${seconds(decision.window)}`;

/** `RateLimit` of the same draft: `"login";r=4;t=52`, r permits left, all back in t seconds. */
export const rateLimit = (decision: Decision): string =>
  `${string(decision.name)};r=${integer(decision.remaining)};t=${seconds(decision.resetAfter)}`;

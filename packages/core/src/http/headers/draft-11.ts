import type { Decision } from '../../decision.js';
import { policyName } from './policy-name.js';

/** The longest integer of RFC 9651: 15 digits. */
const LARGEST = 999_999_999_999_999;
const integer = (value: number) => String(Math.min(LARGEST, Math.max(0, value)));
const seconds = (ms: number) => integer(Math.ceil(ms / 1000));

/** What an RFC 9651 string cannot hold: anything but printable ASCII. */
const UNPRINTABLE = /[^\x20-\x7e]+/g;
const escaped = (text: string) => Buffer.from(text).toString('hex').replace(/../g, '%$&');

/** An RFC 9651 string. */
const string = (text: string) => `"${text.replace(UNPRINTABLE, escaped).replace(/["\\]/g, '\\$&')}"`;

/** `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-11: `"login";q=5;w=60`, q permits in w seconds; one item for each policy. */
export const rateLimitPolicy = (decision: Decision): string =>
  decision.policies
    .map((policy) => {
      const { limit, window } = policy;
      return `${string(policyName(decision, policy))};q=${integer(limit)};w=${seconds(window)}`;
    })
    .join(', ');

/** `RateLimit` of the same draft: `"login";r=4;t=52`, r permits left, all back in t seconds; one item for each policy. */
export const rateLimit = (decision: Decision): string =>
  decision.policies
    .map((policy) => {
      const { remaining, resetAfter } = policy;
      return `${string(policyName(decision, policy))};r=${integer(remaining)};t=${seconds(resetAfter)}`;
    })
    .join(', ');

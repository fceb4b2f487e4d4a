import type { Decision } from '../../decision.js';
import { quantity, seconds } from './numbers.js';

/** `RateLimit` of draft-ietf-httpapi-ratelimit-headers-07, of the policy that bound: `limit=100, remaining=99, reset=60`. */
export const draft7 = ({ limit, remaining, resetAfter }: Decision): string =>
  `limit=${quantity(limit)}, remaining=${quantity(remaining)}, reset=${seconds(resetAfter)}`;

import type { Decision } from '../../decision.js';
import { quantity, seconds } from './numbers.js';
import type { LimitRemainingReset } from './tighter.js';

/** `RateLimit-Limit`, `-Remaining` and `-Reset` (in so many seconds) of draft-ietf-httpapi-ratelimit-headers-06, of the policy that bound. */
export const draft6 = ({ limit, remaining, resetAfter }: Decision): LimitRemainingReset => ({
  limit: quantity(limit),
  remaining: quantity(remaining),
  reset: seconds(resetAfter),
});

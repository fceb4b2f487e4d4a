import type { Decision } from '../../decision.js';
import { quantity, seconds, untilMore } from './numbers.js';
import type { LimitRemainingReset } from './tighter.js';

/** `RateLimit-Limit`, `-Remaining` and `-Reset` (in so many seconds more permits come) of draft-ietf-httpapi-ratelimit-headers-06, of the policy that bound. */
export const draft6 = (decision: Decision): LimitRemainingReset => ({
  limit: quantity(decision.limit),
  remaining: quantity(decision.remaining),
  reset: seconds(untilMore(decision, !decision.allowed)),
});

import type { Decision } from '../../limiter/decision.js';
import { quantity, seconds, untilMore } from './numbers.js';
import type { LimitRemainingReset } from './tighter.js';

/**
 * `RateLimit-Limit`, `-Remaining` and `-Reset` (seconds until more permits) of draft-ietf-httpapi-ratelimit-headers-06, for the
 * binding policy.
 */
export const draft6 = (decision: Decision): LimitRemainingReset => ({
  limit: quantity(decision.limit),
  remaining: quantity(decision.remaining),
  reset: seconds(untilMore(decision, !decision.allowed)),
});

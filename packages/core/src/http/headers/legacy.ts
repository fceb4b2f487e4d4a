import type { Decision } from '../../limiter/decision.js';
import { quantity, seconds, untilMore } from './numbers.js';
import type { LimitRemainingReset } from './tighter.js';

/**
 * `X-RateLimit-Limit`, `-Remaining` and `-Reset` (in Unix seconds), of the policy that bound.
 * @param now milliseconds since 1970
 */
export const legacy = (decision: Decision, now: number): LimitRemainingReset => ({
  limit: quantity(decision.limit),
  remaining: quantity(decision.remaining),
  reset: seconds(now + untilMore(decision, !decision.allowed)),
});

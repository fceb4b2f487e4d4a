import type { Decision } from '../../decision.js';
import { quantity, seconds } from './numbers.js';
import type { LimitRemainingReset } from './tighter.js';

/**
 * `X-RateLimit-Limit`, `-Remaining` and `-Reset` (in Unix seconds), of the policy that bound.
 * @param now milliseconds since 1970
 */
export const legacy = ({ limit, remaining, resetAfter }: Decision, now: number): LimitRemainingReset => ({
  limit: quantity(limit),
  remaining: quantity(remaining),
  reset: seconds(now + resetAfter),
});

import type { Decision } from '../../limiter/decision.js';
import { quantity, seconds, untilMore } from './numbers.js';

/** `RateLimit` of draft-ietf-httpapi-ratelimit-headers-07, of the policy that bound: `limit=100, remaining=99, reset=60`. */
export const draft7 = (decision: Decision): string =>
  `limit=${quantity(decision.limit)}, remaining=${quantity(decision.remaining)}, reset=${seconds(untilMore(decision, !decision.allowed))}`;

import type { Decision } from '../../limiter/decision.js';
import { draft11Items, rateLimit, rateLimitPolicy } from './draft-11.js';
import { retryAfter } from './retry-after.js';

/** The response headers that tell a decision: `RateLimit-Policy`, `RateLimit` and, when denied, `Retry-After`. */
export function decisionHeaders(decision: Decision): Record<string, string> {
  const items = draft11Items(decision);
  const headers: Record<string, string> = {
    'RateLimit-Policy': rateLimitPolicy(decision, items),
    RateLimit: rateLimit(decision, items),
  };
  const retry = retryAfter(decision);
  if (retry !== undefined) headers['Retry-After'] = retry;
  return headers;
}

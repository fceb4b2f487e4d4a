import type { Decision } from '../../decision.js';
import { rateLimit, rateLimitPolicy } from './draft-11.js';
import { retryAfter } from './retry-after.js';

/** The response headers that tell a decision: `RateLimit-Policy`, `RateLimit` and, when denied, `Retry-After`. */
export function decisionHeaders(decision: Decision): Record<string, string> {
  const headers: Record<string, string> = {
    'RateLimit-Policy': rateLimitPolicy(decision),
    RateLimit: rateLimit(decision),
  };
  const retry = retryAfter(decision);
  if (retry !== undefined) headers['Retry-After'] = retry;
  return headers;
}

import type { Decision } from '../../decision.js';

/**
 * The value of `Retry-After` (RFC 9110, 10.2.3): whole seconds ≥ 1, never before a retry can pass. `undefined` when a retry
 * is needless or can never pass.
 */
export function retryAfter({ allowed, retryAfter }: Decision): string | undefined {
  return allowed || !Number.isFinite(retryAfter)
    ? undefined
    : String(Math.max(1, Math.ceil(retryAfter / 1000)));
}

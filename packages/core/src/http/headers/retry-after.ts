import type { Decision } from '../../limiter/decision.js';
import { oneOrMoreSeconds, wholeNumber } from './numbers.js';

/**
 * The value of `Retry-After` (RFC 9110, 10.2.3): whole seconds ≥ 1, never before a retry can pass. `undefined` when a retry
 * is needless or can never pass.
 */
export function retryAfter({ allowed, retryAfter }: Decision): string | undefined {
  return allowed || !Number.isFinite(retryAfter) ? undefined : oneOrMoreSeconds(retryAfter);
}

/**
 * Does a `Retry-After` that stands there already tell clients to come later than ours?
 * @param now milliseconds since 1970: the header may also be a date
 */
export function isLater(before: unknown, ours: string, now: number): boolean {
  const waits = wholeNumber(before);
  if (waits !== undefined) return waits > Number(ours);
  return typeof before === 'string' && Date.parse(before) > now + Number(ours) * 1000;
}

import { wholeNumber } from './numbers.js';
import type { ResponseHeaders } from './write-headers.js';

/** What styles tell that have room for one policy only. */
export interface LimitRemainingReset {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

/**
 * Which of two limits a header tells that has room for one: the one that denied; else the one that has less left; else the one that
 * takes longer to be whole again. A header that somebody else made of something else is replaced.
 * @param before what stands in the response
 */
export function isTighter(
  ours: LimitRemainingReset,
  before: { readonly remaining: unknown; readonly reset: unknown },
  denied: boolean,
  response: ResponseHeaders,
): boolean {
  const remaining = wholeNumber(before.remaining);
  if (remaining === undefined) return true;
  if (denied !== hasDenied(response)) return denied;
  const more = Number(ours.remaining) - remaining;
  return more < 0 || (more === 0 && Number(ours.reset) > (wholeNumber(before.reset) ?? 0));
}

/** Has an earlier limiter denied? Koa gives an empty string for a header that is not there. */
function hasDenied(response: ResponseHeaders): boolean {
  const retryAfter = response.get('Retry-After');
  return retryAfter !== undefined && retryAfter !== '';
}

import { checkOneOf, checkOptions } from '@sluice/core/internal';
import { ietfLimits } from '../reading/ietf.js';
import type { ObservedLimit, RateLimitReader, Scope } from '../reading/reading.js';
import { refusalOf } from '../reading/refusals.js';
import { xRateLimits } from '../reading/x-ratelimit.js';

const SCOPES: readonly Scope[] = ['request', 'endpoint', 'dimension', 'account', 'upstream'];

/**
 * Reads the headers that many services share: `Retry-After`, `RateLimit` and `RateLimit-Policy` of drafts 3 to 12, `X-RateLimit-*`.
 * @param options `scope`: how far a refusal reaches if no budget is named as used up; default `endpoint`, the narrowest
 * @throws TypeError, RangeError naming the invalid option
 */
export function standardHeaders(options: { readonly scope?: Scope } = {}): RateLimitReader {
  checkOptions('standardHeaders', options, ['scope']);
  if (options.scope !== undefined) checkOneOf('standardHeaders: scope', options.scope, SCOPES);
  return (response) => {
    const drafted = ietfLimits(response);
    const observed: readonly ObservedLimit[] = drafted.length > 0 ? drafted : xRateLimits(response);
    const refusal = refusalOf(response, observed, options);
    return refusal === undefined ? { observed } : { observed, refusal };
  };
}

import type { RateLimitReader } from '../reading/reading.js';
import { kindOf, type RefusalFacts, refusalOf } from '../reading/refusals.js';
import { type HeaderNames, namedLimits } from '../reading/x-ratelimit.js';
import { jsonOf, textAt } from './body.js';

const NAMES: HeaderNames = {
  dimensions: {
    requests: ['x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
    tokens: ['x-ratelimit-limit-tokens', 'x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens'],
  },
  resetMeans: 'full',
};

/** OpenAI, Azure OpenAI and services with their headers. A reset is the time until the budget is full, not until the next call passes. */
export const openaiHeaders: RateLimitReader = (response) => {
  const observed = namedLimits(response, NAMES);
  const error = jsonOf(response);
  const isQuota = [textAt(error, 'error.code'), textAt(error, 'error.type')].includes('insufficient_quota');
  if (observed.length === 0 && kindOf(response.status) === undefined) return undefined;
  const refusal = refusalOf(
    response,
    observed,
    isQuota ? { kind: 'quota', scope: 'account', reason: 'insufficient_quota' } : dimensionOf(error),
  );
  return refusal === undefined ? { observed } : { observed, refusal };
};

/** The message names the budget: `Rate limit reached … on tokens per min (TPM)`. */
function dimensionOf(error: unknown): RefusalFacts {
  const message = textAt(error, 'error.message');
  if (/\btokens per (?:min|day)\b/.test(message)) return { dimension: 'tokens', reason: 'tokens' };
  if (/\brequests per (?:min|day)\b/.test(message)) return { dimension: 'requests', reason: 'requests' };
  return {};
}

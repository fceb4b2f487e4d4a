import type { RateLimitReader } from '../reading/reading.js';
import { kindOf, refusalOf } from '../reading/refusals.js';
import { type HeaderNames, namedLimits } from '../reading/x-ratelimit.js';
import { jsonOf, textAt } from './body.js';

const PREFIX = 'anthropic-ratelimit';
const names = (dimension: string) =>
  [
    `${PREFIX}-${dimension}-limit`,
    `${PREFIX}-${dimension}-remaining`,
    `${PREFIX}-${dimension}-reset`,
  ] as const;

/** Remaining tokens are rounded to thousands. */
const ROUNDING = 1000;

const NAMES: HeaderNames = {
  dimensions: {
    requests: names('requests'),
    tokens: names('tokens'),
    'input-tokens': names('input-tokens'),
    'output-tokens': names('output-tokens'),
  },
  resetMeans: 'full',
  rounding: { tokens: ROUNDING, 'input-tokens': ROUNDING, 'output-tokens': ROUNDING },
};

/** Anthropic. Status 529 means that all of it is overloaded, and says nothing of the account. */
export const anthropicHeaders: RateLimitReader = (response) => {
  const observed = namedLimits(response, NAMES);
  if (observed.length === 0 && kindOf(response.status) === undefined) return undefined;
  const reason = textAt(jsonOf(response), 'error.type');
  const refusal = refusalOf(response, observed, reason === '' ? {} : { reason });
  return refusal === undefined ? { observed } : { observed, refusal };
};

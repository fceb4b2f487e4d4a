import { ietfLimits } from './ietf.js';
import type { ResponseView } from './reading.js';
import { resetOf } from './reset.js';
import { retryAfterIn } from './retry-after.js';

/** Headers of services that state when a budget is renewed. */
const RESETS = [
  'x-ratelimit-reset-after',
  'x-ratelimit-reset',
  'x-rate-limit-reset',
  ...['requests', 'tokens'].map((dimension) => `x-ratelimit-reset-${dimension}`),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((one) => `anthropic-ratelimit-${one}-reset`),
];

/** The header of a response that states a moment; '' if none does: the body states it, or no response. @param moment ms since 1970 */
export function statedBy(response: ResponseView, moment: number | undefined): string {
  if (moment === undefined) return '';
  const retry = retryAfterIn(response);
  if (retry?.moment === moment) return retry.header;
  for (const prefix of ['', 'beta-']) {
    if (!ietfLimits(response, prefix).some(({ resetAt }) => resetAt === moment)) continue;
    const list = `${prefix}ratelimit`;
    return response.header(list) === undefined ? `${list}-reset` : list;
  }
  return RESETS.find((name) => resetOf(response.header(name), response) === moment) ?? '';
}

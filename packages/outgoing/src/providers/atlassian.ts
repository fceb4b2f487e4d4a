import { ietfLimits } from '../reading/ietf.js';
import type { RateLimitReader, Scope } from '../reading/reading.js';
import { refusalOf } from '../reading/refusals.js';
import { xRateLimits } from '../reading/x-ratelimit.js';

/** `RateLimit-Reason` of Jira and Confluence, and how far each reaches. */
const SCOPES: readonly (readonly [reason: RegExp, scope: Scope])[] = [
  [/quota/, 'account'],
  [/burst/, 'endpoint'],
  [/per-issue|on-write/, 'request'],
];

/** Atlassian: X-RateLimit headers, draft 11 under names with `Beta-`, and a reason that names the scope. */
export const atlassianHeaders: RateLimitReader = (response) => {
  const beta = ietfLimits(response, 'beta-');
  const observed = beta.length > 0 ? beta : xRateLimits(response);
  const reason = response.header('ratelimit-reason');
  const scope = reason === undefined ? undefined : SCOPES.find(([known]) => known.test(reason))?.[1];
  const refusal = refusalOf(response, observed, {
    ...(reason !== undefined && { reason }),
    ...(scope !== undefined && { scope }),
  });
  if (refusal !== undefined) return { observed, refusal };
  return observed.length === 0 ? undefined : { observed };
};

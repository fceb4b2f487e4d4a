import { numberOf, wholeOf } from '../reading/moments.js';
import type { ObservedLimit, RateLimitReader } from '../reading/reading.js';
import { refusalOf } from '../reading/refusals.js';
import { resetOf } from '../reading/reset.js';
import { after } from '../reading/response-view.js';

/** Discord: limits belong to a bucket that only the response names, so a refusal pauses the endpoint, unless it is global. */
export const discordHeaders: RateLimitReader = (response) => {
  const limit = numberOf(response.header('x-ratelimit-limit'));
  const remaining = wholeOf(response.header('x-ratelimit-remaining'));
  const inSeconds = numberOf(response.header('x-ratelimit-reset-after'));
  const resetAt =
    inSeconds === undefined
      ? resetOf(response.header('x-ratelimit-reset'), response)
      : after(response, inSeconds * 1000);
  const observed: ObservedLimit[] =
    limit === undefined || remaining === undefined
      ? []
      : [
          {
            dimension: response.header('x-ratelimit-bucket') ?? 'requests',
            limit,
            remaining,
            ...(resetAt !== undefined && { resetAt, resetMeans: 'window' }),
          },
        ];
  const scope = response.header('x-ratelimit-scope');
  const isGlobal = response.header('x-ratelimit-global') === 'true' || scope === 'global';
  const refusal = refusalOf(response, observed, {
    scope: isGlobal ? 'account' : 'endpoint',
    ...(scope !== undefined && { reason: scope }),
  });
  if (refusal !== undefined) return { observed, refusal };
  return observed.length === 0 ? undefined : { observed };
};

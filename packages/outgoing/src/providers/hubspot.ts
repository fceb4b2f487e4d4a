import { numberOf, wholeOf } from '../reading/moments.js';
import type { ObservedLimit, RateLimitReader, ResponseView } from '../reading/reading.js';
import { refusalOf } from '../reading/refusals.js';
import { jsonOf, textAt } from './body.js';

const PREFIX = 'x-hubspot-ratelimit';

/** HubSpot: a limit of some seconds and one of the day. The body says which one refused. */
export const hubspotHeaders: RateLimitReader = (response) => {
  const window = numberOf(response.header(`${PREFIX}-interval-milliseconds`));
  const observed = [
    ...limitOf(response, 'requests', 'max', 'remaining', window),
    ...limitOf(response, 'daily', 'daily', 'daily-remaining', 86_400_000),
  ];
  const policy = textAt(jsonOf(response), 'policyName');
  const facts = /daily/i.test(policy)
    ? ({ kind: 'quota', scope: 'account', reason: policy } as const)
    : { dimension: 'requests', ...(policy !== '' && { reason: policy }) };
  const refusal =
    response.status === 429 ? refusalOf(response, observed, facts) : refusalOf(response, observed);
  if (refusal !== undefined) return { observed, refusal };
  return observed.length === 0 ? undefined : { observed };
};

function limitOf(
  response: ResponseView,
  dimension: string,
  limitName: string,
  remainingName: string,
  window: number | undefined,
): ObservedLimit[] {
  const limit = numberOf(response.header(`${PREFIX}-${limitName}`));
  const remaining = wholeOf(response.header(`${PREFIX}-${remainingName}`));
  if (limit === undefined && remaining === undefined) return [];
  return [
    {
      dimension,
      ...(limit !== undefined && { limit }),
      ...(remaining !== undefined && { remaining }),
      ...(window !== undefined && { window }),
    },
  ];
}

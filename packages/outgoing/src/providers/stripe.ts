import type { RateLimitReader } from '../reading/reading.js';
import { type RefusalFacts, refusalOf } from '../reading/refusals.js';

/** Stripe states neither a rest nor a time: only which limit refused, and whether to retry. */
export const stripeHeaders: RateLimitReader = (response) => {
  const reason = response.header('stripe-rate-limited-reason');
  const should = response.header('stripe-should-retry');
  const retry = should === 'true' ? true : should === 'false' ? false : undefined;
  const facts: RefusalFacts = {
    ...(reason !== undefined && { reason, scope: scopeOf(reason) }),
    ...(retry !== undefined && { retry }),
  };
  const refusal = refusalOf(response, [], facts);
  return refusal === undefined ? undefined : { observed: [], refusal };
};

function scopeOf(reason: string) {
  if (reason.startsWith('global')) return 'account';
  return reason.startsWith('endpoint') ? 'endpoint' : 'request';
}

import { wholeOf } from '../reading/moments.js';
import type { ObservedLimit, RateLimitReader, ResponseView } from '../reading/reading.js';
import { refusalOf } from '../reading/refusals.js';
import { after } from '../reading/response-view.js';
import { at, jsonOf, numberAt, textAt } from './body.js';

/** Shopify: `used/size` of a bucket over REST, and in the body of GraphQL the bucket's size, level and rate. */
export const shopifyHeaders: RateLimitReader = (response) => {
  const { status } = response;
  const [used, size] = (response.header('x-shopify-shop-api-call-limit') ?? '').split('/').map(wholeOf);
  const rest: ObservedLimit[] =
    used === undefined || size === undefined
      ? []
      : [{ dimension: 'requests', limit: size, remaining: Math.max(0, size - used) }];
  const json = jsonOf(response);
  const cost = at(json, 'extensions.cost');
  const points = pointsOf(cost, response);
  const observed = points === undefined ? rest : [points, ...rest];
  if (points !== undefined && isThrottled(json)) {
    const wanted = numberAt(cost, 'requestedQueryCost') ?? 0;
    const rate = numberAt(cost, 'throttleStatus.restoreRate') ?? 0;
    const missing = Math.max(0, wanted - points.remaining!);
    const until = rate > 0 ? { until: after(response, (missing / rate) * 1000) } : {};
    const refusal = { kind: 'limit', scope: 'dimension', dimension: 'points', reason: 'THROTTLED' } as const;
    return { observed, refusal: { ...refusal, ...until } };
  }
  const refusal = refusalOf(response, observed, status === 429 ? { dimension: 'requests' } : {});
  if (refusal !== undefined) return { observed, refusal };
  return observed.length === 0 ? undefined : { observed };
};

function pointsOf(
  cost: unknown,
  response: ResponseView,
): (ObservedLimit & { remaining: number }) | undefined {
  const limit = numberAt(cost, 'throttleStatus.maximumAvailable');
  const remaining = numberAt(cost, 'throttleStatus.currentlyAvailable');
  const rate = numberAt(cost, 'throttleStatus.restoreRate');
  if (limit === undefined || remaining === undefined) return undefined;
  const full =
    rate === undefined || rate === 0 ? undefined : after(response, ((limit - remaining) / rate) * 1000);
  return {
    dimension: 'points',
    limit,
    remaining: Math.floor(remaining),
    ...(full !== undefined && { resetAt: full, resetMeans: 'full' }),
  };
}

function isThrottled(json: unknown): boolean {
  const errors = at(json, 'errors');
  return Array.isArray(errors) && errors.some((one) => textAt(one, 'extensions.code') === 'THROTTLED');
}

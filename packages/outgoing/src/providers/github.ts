import { type Cost, leakyBucket, type Policy, slidingWindow } from '@sluice/core';
import type { OutgoingRequest } from '../calls/outgoing-request.js';
import type { ObservedLimit, RateLimitReader } from '../reading/reading.js';
import { kindOf, type RefusalFacts, refusalOf } from '../reading/refusals.js';
import { retryAfterOf } from '../reading/retry-after.js';
import { xRateLimits } from '../reading/x-ratelimit.js';
import { jsonOf, textAt } from './body.js';

/** ms: what the documentation demands after a secondary limit without `Retry-After`. */
const SECONDARY = 60_000;

/** GitHub. Each resource (`core`, `search`, `graphql`) has a budget. Secondary limits have no headers of their own. */
export const githubHeaders: RateLimitReader = (response) => {
  const resource = response.header('x-ratelimit-resource') ?? 'core';
  const observed: readonly ObservedLimit[] = xRateLimits(response).map((one) => ({
    ...one,
    dimension: resource,
  }));
  const facts = refusedBy(observed, response);
  const refusal = facts && refusalOf(response, observed, facts);
  if (refusal === undefined) return observed.length === 0 ? undefined : { observed };
  return { observed, refusal };
};

function refusedBy(
  observed: readonly ObservedLimit[],
  response: Parameters<RateLimitReader>[0],
): RefusalFacts | undefined {
  const { status } = response;
  if (kindOf(status) === 'overload') return {};
  if (status !== 403 && status !== 429) return undefined;
  const message = textAt(jsonOf(response), 'message');
  const isSecondary = /secondary rate limit|abuse detection/i.test(message);
  if (observed[0]?.remaining === 0 && !isSecondary)
    return { kind: 'limit', scope: 'dimension', dimension: observed[0].dimension, reason: 'rate limit' };
  // A 403 without a sign of a limit is a missing right.
  if (status === 403 && !isSecondary && retryAfterOf(response) === undefined) return undefined;
  return { kind: 'limit', scope: 'account', least: SECONDARY, reason: 'secondary rate limit' };
}

/** The resource that a request draws on. */
export function githubResource(pathname: string): string {
  if (/^\/search\/code\b/.test(pathname)) return 'code_search';
  if (/^\/search\b/.test(pathname)) return 'search';
  return /^(?:\/api)?\/graphql$/.test(pathname) ? 'graphql' : 'core';
}

/** Its secondary limits: 900 points a minute for REST, where a write costs five, and a second between writes. */
export const githubLimits = (): Readonly<Record<string, Policy>> => ({
  points: slidingWindow({ limit: 900, window: '1m', slots: 6 }),
  writes: leakyBucket({ capacity: 1000, leak: 1, every: '1s' }),
});

/** What a request takes of them. */
export function githubCost({ method, url }: OutgoingRequest): Cost {
  const isWrite = !['GET', 'HEAD', 'OPTIONS'].includes(method);
  const isGraphql = githubResource(url.pathname) === 'graphql';
  return { points: isGraphql ? 0 : isWrite ? 5 : 1, writes: isWrite && !isGraphql ? 1 : 0, concurrency: 1 };
}

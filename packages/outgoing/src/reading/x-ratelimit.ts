import { numberOf, wholeOf } from './moments.js';
import type { ObservedLimit, ResponseView } from './reading.js';
import { resetOf } from './reset.js';

/** How a provider's headers are named and what they mean. */
export interface HeaderNames {
  /** Each dimension, and the header of each figure. */
  readonly dimensions: Readonly<Record<string, readonly [limit: string, remaining: string, reset: string]>>;
  readonly resetMeans: NonNullable<ObservedLimit['resetMeans']>;
  /** How much `remaining` of a dimension is rounded. */
  readonly rounding?: Readonly<Record<string, number>>;
}

/** `X-RateLimit-*` in its two spellings. */
const PLAIN: readonly HeaderNames[] = ['x-ratelimit', 'x-rate-limit'].map((prefix) => ({
  dimensions: { requests: [`${prefix}-limit`, `${prefix}-remaining`, `${prefix}-reset`] },
  resetMeans: 'window',
}));

/** The budgets that headers of these names state. A negative number states nothing. */
export function namedLimits(
  response: ResponseView,
  { dimensions, resetMeans, rounding = {} }: HeaderNames,
): readonly ObservedLimit[] {
  return Object.entries(dimensions).flatMap(([dimension, [limitName, remainingName, resetName]]) => {
    // A list of limits begins with the one in force: `100, 100;window=60`.
    const limit = numberOf(response.header(limitName)?.split(/[,;]/, 1)[0]?.trim());
    const remaining = wholeOf(response.header(remainingName));
    if (limit === undefined && remaining === undefined) return [];
    const resetAt = resetOf(response.header(resetName), response);
    const rounds = rounding[dimension];
    return {
      dimension,
      ...(limit !== undefined && { limit }),
      ...(remaining !== undefined && { remaining }),
      ...(resetAt !== undefined && { resetAt, resetMeans }),
      ...(rounds !== undefined && { rounding: rounds }),
    };
  });
}

export const xRateLimits = (response: ResponseView): readonly ObservedLimit[] => {
  for (const names of PLAIN) {
    const observed = namedLimits(response, names);
    if (observed.length > 0) return observed;
  }
  return [];
};

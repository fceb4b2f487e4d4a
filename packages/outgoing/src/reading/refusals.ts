import type { ObservedLimit, Refusal, RefusalKind, ResponseView, Scope } from './reading.js';
import { retryAfterOf } from './retry-after.js';

/** Not the limit of an account: nobody is served. */
const OVERLOAD: readonly number[] = [503, 529];

/** What a status alone says. */
export const kindOf = (status: number): RefusalKind | undefined =>
  status === 429 ? 'limit' : OVERLOAD.includes(status) ? 'overload' : undefined;

/** The budget that is used up: of several the one that is renewed last. */
export function exhausted(observed: readonly ObservedLimit[]): ObservedLimit | undefined {
  return observed
    .filter(({ remaining, limit, resetAt }) => remaining === 0 && limit !== 0 && resetAt !== undefined)
    .reduce<ObservedLimit | undefined>(
      (last, one) => (last === undefined || one.resetAt! > last.resetAt! ? one : last),
      undefined,
    );
}

/** What a reader knows of a refusal beyond its status and times. */
export interface RefusalFacts {
  readonly kind?: RefusalKind;
  /** Default: `dimension` if a budget is used up, otherwise `endpoint`; for an overload `upstream`. */
  readonly scope?: Scope;
  readonly dimension?: string;
  readonly least?: number;
  readonly reason?: string;
  readonly retry?: boolean;
}

/**
 * A refusal by status 429, 503 or 529, or of a kind that the reader knows; undefined for any other response. `Retry-After` decides the time, else the
 * budget that is used up, else there is none.
 */
export function refusalOf(
  response: ResponseView,
  observed: readonly ObservedLimit[],
  facts: RefusalFacts = {},
): Refusal | undefined {
  const kind = facts.kind ?? kindOf(response.status);
  if (kind === undefined) return undefined;
  const reason = facts.reason ?? `HTTP ${response.status}`;
  const { least, retry } = facts;
  const rest = { reason, ...(retry !== undefined && { retry }) };
  const stated = retryAfterOf(response);
  if (kind === 'overload') {
    return { kind, scope: 'upstream', ...(stated !== undefined && { until: stated }), ...rest };
  }
  const budget = exhausted(
    facts.dimension === undefined
      ? observed
      : observed.filter(({ dimension }) => dimension === facts.dimension),
  );
  const until = stated ?? budget?.resetAt;
  const dimension = facts.dimension ?? budget?.dimension;
  const scope = facts.scope ?? (dimension === undefined ? 'endpoint' : 'dimension');
  return {
    kind,
    scope,
    ...(scope === 'dimension' && { dimension: dimension ?? 'requests' }),
    ...(until !== undefined ? { until } : least !== undefined && { least }),
    ...rest,
  };
}

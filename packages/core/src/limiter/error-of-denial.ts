import type { Decision } from '../decision.js';
import { RateLimitExceededError, StoreUnavailableError } from '../errors.js';
import { publicName } from '../public-names.js';
import { DecisionRecord } from './decision-record.js';

/** Denied because the store is out, and not because a limit was exceeded. */
export const isFailureDenial = ({ allowed, degraded, source }: Decision): boolean =>
  !allowed && degraded && source === 'deny';

/**
 * The error of a decision that denied.
 * @param options of a limit that was exceeded
 */
export function errorOfDenial(
  decision: Decision,
  options?: ConstructorParameters<typeof RateLimitExceededError>[1],
): RateLimitExceededError | StoreUnavailableError {
  if (!isFailureDenial(decision)) return new RateLimitExceededError(decision, options);
  const cause = DecisionRecord.failure(decision);
  // The reason only: frameworks may send error messages to clients, and the cause may name the server.
  const why = cause === undefined ? '' : ` (${cause.reason})`;
  return new StoreUnavailableError(
    `Rate limit '${publicName(decision.name)}' denies until its store is back${why}`,
    {
      decision,
      ...(cause && { cause, reason: cause.reason }),
    },
  );
}

import type { RateLimitReading, ResponseView } from '../reading/reading.js';
import { kindOf } from '../reading/refusals.js';
import { retryAfterOf } from '../reading/retry-after.js';

/** Methods that may be sent twice (RFC 9110). */
const IDEMPOTENT = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'];
const IDEMPOTENCY_KEYS = ['idempotency-key', 'x-idempotency-key', 'paypal-request-id'];

/** ms */
const FIRST_BACKOFF = 1_000;
export const LONGEST_BACKOFF = 20_000;

/** What decides whether a call may be sent again. */
export interface Repeatable {
  readonly method: string;
  readonly headers: { get(name: string): string | null };
  /** Can its body be sent again? */
  readonly isReplayable: boolean;
}

const isSafe = ({ method, headers }: Repeatable): boolean =>
  IDEMPOTENT.includes(method) || IDEMPOTENCY_KEYS.some((name) => headers.get(name) !== null);

/** May a call be sent again after a connection error or a timeout? The upstream may have received it. */
export const mayRepeatAfterError = (call: Repeatable): boolean => call.isReplayable && isSafe(call);

/**
 * May a call be sent again after this response?
 * @param statuses of failures that may pass. They need not name the status of a refusal that only a reader knows, such as 403
 */
export function mayRepeat(
  call: Repeatable,
  status: number,
  { refusal }: RateLimitReading,
  statuses: readonly number[],
): boolean {
  if (!call.isReplayable || refusal?.kind === 'quota' || refusal?.retry === false) return false;
  const isRefusalByReader = refusal !== undefined && kindOf(status) === undefined;
  if (!(statuses.includes(status) || isRefusalByReader)) return false;
  // A refusal with a time was not processed: the upstream invites to repeat it.
  return isSafe(call) || refusal?.until !== undefined || refusal?.retry === true;
}

/** The earliest moment for another attempt that a response states, ms since 1970. A 502 or 504 of a proxy refuses nothing, but may state one, too. */
export function earliestRetry(view: ResponseView, { refusal }: RateLimitReading): number | undefined {
  if (refusal !== undefined) return refusal.until;
  return kindOf(view.status) === undefined ? retryAfterOf(view) : undefined;
}

/** ms before the next attempt where the upstream states no time: exponential, with full jitter. @param random from 0 to less than 1 */
export const backoff = (attempt: number, random: number): number =>
  Math.floor(random * Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** (attempt - 1)));

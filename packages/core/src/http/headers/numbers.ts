/** The longest integer of RFC 9651: 15 digits. */
const LARGEST = 999_999_999_999_999;

/** A whole number from 0 to 15 digits; what is none, such as NaN, is 0. */
const whole = (value: number): string => String(value > 0 ? Math.min(LARGEST, value) : 0);

/** Permits, never more than there are. */
export const quantity = (permits: number): string => whole(Math.floor(permits));

/** Milliseconds as seconds, never too early. */
export const seconds = (ms: number): string => whole(Math.ceil(ms / 1000));

/**
 * Milliseconds until more quota is available. For a denial: until a retry can pass, as in `Retry-After`.
 * @param denied whether this policy denied the request
 */
export const untilMore = (
  { retryAfter, moreAfter }: { readonly retryAfter: number; readonly moreAfter: number },
  denied: boolean,
): number => (denied && retryAfter > 0 && Number.isFinite(retryAfter) ? retryAfter : moreAfter);

/** The same, at least 1: no window and no wait is shorter. */
export const oneOrMoreSeconds = (ms: number): string => (ms > 1000 ? seconds(ms) : '1');

const WHOLE = /^\d{1,15}$/;

/** A header's value as a number, when it is a whole one. */
export function wholeNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  return typeof value === 'string' && WHOLE.test(value) ? Number(value) : undefined;
}

import { dateOf, goDuration, numberOf } from './moments.js';
import type { ResponseView } from './reading.js';
import { after } from './response-view.js';

/** From here on a number is a moment and no length: 2001 in seconds since 1970. */
const SECONDS_SINCE_1970 = 1e9;
const MS_SINCE_1970 = 1e12;

/**
 * The moment of an `X-RateLimit-Reset`, ms since 1970. The header has six meanings, and its text says which: seconds or milliseconds since
 * 1970, an ISO 8601 time, the text of a JavaScript Date, a duration with units, or seconds from now.
 */
export function resetOf(text: string | undefined, response: ResponseView): number | undefined {
  if (text === undefined) return undefined;
  const number = numberOf(text);
  if (number !== undefined) {
    if (number > MS_SINCE_1970) return response.moment(number);
    if (number > SECONDS_SINCE_1970) return response.moment(number * 1000);
    return after(response, number * 1000);
  }
  const ms = goDuration(text);
  if (ms !== undefined) return after(response, ms);
  const date = dateOf(text);
  return date === undefined ? undefined : response.moment(date);
}

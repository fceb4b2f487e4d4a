import { dateOf, goDuration, numberOf } from './moments.js';
import type { ResponseView } from './reading.js';
import { after } from './response-view.js';

/** Headers that say how long to wait, the finest first, and the milliseconds of their unit. */
const HEADERS: readonly (readonly [name: string, unit: number])[] = [
  ['retry-after-ms', 1],
  ['x-ms-retry-after-ms', 1],
  ['retry-after', 1000],
  ['x-ratelimit-retry-after', 1000],
  ['x-rate-limit-retry-after-seconds', 1000],
];

/**
 * When to retry, by `Retry-After` or a header of the same meaning; ms since 1970. Seconds may be whole (`120`) or not (`2.0`); a moment may be
 * an HTTP date, an ISO 8601 time or the text of a JavaScript Date.
 */
export const retryAfterOf = (response: ResponseView): number | undefined => retryAfterIn(response)?.moment;

/** The same with the header that states it. */
export function retryAfterIn(
  response: ResponseView,
): { readonly moment: number; readonly header: string } | undefined {
  for (const [header, unit] of HEADERS) {
    const text = response.header(header);
    const moment = text === undefined ? undefined : momentOf(text, unit, response);
    if (moment !== undefined) return { moment, header };
  }
  return undefined;
}

function momentOf(text: string, unit: number, response: ResponseView): number | undefined {
  const moment = oneMoment(text, unit, response);
  if (moment !== undefined || !text.includes(',')) return moment;
  // fetch joins the lines of a gateway and of the service behind it. A date has a comma of its own.
  const several = text.split(',').map((one) => oneMoment(one.trim(), unit, response));
  return several.every((one) => one !== undefined) ? Math.max(...several) : undefined;
}

function oneMoment(text: string, unit: number, response: ResponseView): number | undefined {
  const length = numberOf(text);
  if (length !== undefined) return after(response, length * unit);
  const ms = goDuration(text);
  if (ms !== undefined) return after(response, ms);
  const date = dateOf(text);
  return date === undefined ? undefined : response.moment(date);
}

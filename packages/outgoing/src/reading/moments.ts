/** Moments and lengths as upstreams write them. Each function returns undefined for a text that is not one: it never guesses. */

const NUMBER = /^\d{1,15}(?:\.\d{1,9})?$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
/** The three forms of an HTTP date (RFC 9110), and the text of a JavaScript Date. */
const NAMED_DAY = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;
const ZONE = /(?:GMT|UTC|Z$|[+-]\d\d:?\d\d)/;
const GO_PART = /(\d{1,12}(?:\.\d{1,9})?)(ns|us|µs|ms|s|m|h)/g;
const GO = /^(?:\d{1,12}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h))+$/;
/** Longer texts are no dates. */
const LONGEST = 80;

const MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** A number ≥ 0. */
export const numberOf = (text: string | undefined): number | undefined =>
  text !== undefined && NUMBER.test(text) ? Number(text) : undefined;

/** A whole number ≥ 0, rounded down: the rest of a budget. */
export const wholeOf = (text: string | undefined): number | undefined => {
  const number = numberOf(text);
  return number === undefined ? undefined : Math.floor(number);
};

/** ms since 1970 of an ISO 8601 time, an HTTP date or the text of a JavaScript Date. A time without a zone is UTC. */
export function dateOf(text: string): number | undefined {
  if (text.length > LONGEST || !(ISO.test(text) || NAMED_DAY.test(text))) return undefined;
  const zoned = ZONE.test(text) ? text : ISO.test(text) ? `${text}Z` : `${text} GMT`;
  const ms = Date.parse(zoned);
  return Number.isNaN(ms) ? undefined : ms;
}

/** ms of a duration in Go's words: `6m0s`, `1s`, `12ms`. */
export function goDuration(text: string): number | undefined {
  if (text.length > LONGEST || !GO.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(GO_PART)) sum += Number(amount) * MS[unit!]!;
  return sum;
}

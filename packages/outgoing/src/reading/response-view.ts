import { dateOf } from './moments.js';
import type { ResponseView } from './reading.js';

/** Anything with a status and headers: a `Response`, a message of `node:http`, a response of undici, axios or got. */
export interface AnyResponse {
  readonly status?: number | undefined;
  readonly statusCode?: number | undefined;
  readonly headers: Pick<Headers, 'get'> | Readonly<Record<string, unknown>>;
}

/** Characters; a longer header is not read. */
const MOST_HEADER = 1024;
/** ms; no clock that is further off is believed. */
const MOST_SKEW = 86_400_000;
/** ms; the furthest moment that is believed. */
const FURTHEST = 366 * 86_400_000;

/**
 * @param receivedAt ms since 1970
 * @param body its text, or '' if it was not read
 */
export function viewOf(response: AnyResponse, receivedAt: number, body = ''): ResponseView {
  const { headers } = response;
  const read =
    typeof (headers as Headers).get === 'function'
      ? (name: string) => (headers as Headers).get(name)
      : fieldsOf(headers as Record<string, unknown>);
  const header = (name: string): string | undefined => {
    const value = read(name);
    const text = (Array.isArray(value) ? value.join(', ') : value) ?? '';
    const trimmed = typeof text === 'number' ? String(text) : typeof text === 'string' ? text.trim() : '';
    return trimmed === '' || trimmed.length > MOST_HEADER ? undefined : trimmed;
  };
  // Few responses state a moment.
  const offsetNow = (): number => {
    const date = header('date');
    const skew = (date === undefined ? receivedAt : (dateOf(date) ?? receivedAt)) - receivedAt;
    return Math.abs(skew) <= MOST_SKEW ? skew : 0;
  };
  return {
    status: response.status ?? response.statusCode ?? 0,
    body,
    receivedAt,
    header,
    moment: (upstream) =>
      Math.min(receivedAt + FURTHEST, Math.max(receivedAt, Math.ceil(upstream - offsetNow()))),
  };
}

/** Reads headers of an object by their lower-case names. Most clients write them so; others keep what was sent. */
function fieldsOf(headers: Readonly<Record<string, unknown>>): (name: string) => unknown {
  let lower: Map<string, unknown> | undefined;
  return (name) => {
    if (Object.hasOwn(headers, name)) return headers[name];
    lower ??= new Map(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]));
    return lower.get(name);
  };
}

/** The moment `ms` from now. */
export const after = ({ receivedAt }: ResponseView, ms: number): number =>
  receivedAt + Math.min(FURTHEST, Math.max(0, Math.ceil(ms)));

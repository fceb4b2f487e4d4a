import type { Decision } from '@sluice/core';
import {
  type ListHeaders,
  oneOrMoreSeconds,
  quantity,
  type ResponseHeaders,
  seconds,
  untilMore,
} from './decision-headers.js';

// Headers with room for one policy: drafts 6 and 7, and X-RateLimit. Of several limits the most restrictive is shown.

/** `RateLimit-Policy` of drafts 6 and 7: `100;w=60, 1000;w=3600`, q permits in w seconds; one item for each policy. */
export const quotaPolicies = ({ policies }: Decision): string =>
  policies.map(({ limit, window }) => `${quantity(limit)};w=${oneOrMoreSeconds(window)}`).join(', ');

const WHOLE = /^\d{1,15}$/;

/** The value of a header, if it is a whole number. */
function wholeNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  return typeof value === 'string' && WHOLE.test(value) ? Number(value) : undefined;
}

/**
 * Whether a decision replaces the one that a response shows: a denial goes first, then less remaining permits, then the longer
 * time to reset. A value in another form, set by other code, is replaced.
 */
function isMoreRestrictive(
  { allowed, remaining }: Decision,
  reset: string,
  before: { readonly remaining: unknown; readonly reset: unknown },
  response: ResponseHeaders,
): boolean {
  const shown = wholeNumber(before.remaining);
  if (shown === undefined) return true;
  const retryAfter = response.get('Retry-After');
  const hasDenied = retryAfter !== undefined && retryAfter !== ''; // some frameworks return '' for no header
  if (allowed === hasDenied) return !allowed;
  const more = Number(quantity(remaining)) - shown;
  return more < 0 || (more === 0 && Number(reset) > (wholeNumber(before.reset) ?? 0));
}

const untilReset = ({ allowed, retryAfter, moreAfter }: Decision): number =>
  untilMore(retryAfter, moreAfter, !allowed);

/** Writes the headers of one decision, merged with what the response has. */
type Write = (decision: Decision, response: ResponseHeaders) => void;
/** @param policies its `quotaPolicies` */
export type WriteOlder = (decision: Decision, response: ListHeaders, policies: string) => void;

/** `RateLimit-Limit`, `-Remaining` and `-Reset` (seconds) of draft-ietf-httpapi-ratelimit-headers-06. */
export const writeDraft6: WriteOlder = (decision, response, policies) => {
  response.append('RateLimit-Policy', policies);
  writeThree('RateLimit', decision, seconds(untilReset(decision)), response);
};

const DRAFT_7 = /^limit=\d{1,15}, remaining=(\d{1,15}), reset=(\d{1,15})$/;

/** `RateLimit` of draft-ietf-httpapi-ratelimit-headers-07: `limit=100, remaining=99, reset=60`. */
export const writeDraft7: WriteOlder = (decision, response, policies) => {
  response.append('RateLimit-Policy', policies);
  const before = response.get('RateLimit');
  const [, remaining, reset] = (typeof before === 'string' && DRAFT_7.exec(before)) || [];
  const ours = seconds(untilReset(decision));
  if (!isMoreRestrictive(decision, ours, { remaining, reset }, response)) return;
  const { limit, remaining: left } = decision;
  response.set('RateLimit', `limit=${quantity(limit)}, remaining=${quantity(left)}, reset=${ours}`);
};

/** `X-RateLimit-Limit`, `-Remaining` and `-Reset` (Unix seconds). */
export const writeLegacy: Write = (decision, response) =>
  writeThree('X-RateLimit', decision, seconds(Date.now() + untilReset(decision)), response);

function writeThree(
  prefix: 'RateLimit' | 'X-RateLimit',
  decision: Decision,
  reset: string,
  response: ResponseHeaders,
): void {
  const before = { remaining: response.get(`${prefix}-Remaining`), reset: response.get(`${prefix}-Reset`) };
  if (!isMoreRestrictive(decision, reset, before, response)) return;
  response.set(`${prefix}-Limit`, quantity(decision.limit));
  response.set(`${prefix}-Remaining`, quantity(decision.remaining));
  response.set(`${prefix}-Reset`, reset);
}

/**
 * `Retry-After` (RFC 9110, 10.2.3), unless the response already names a later moment: whole seconds ≥ 1, never before a retry can pass. None if a
 * retry is not needed or can never pass.
 */
export const writeRetryAfter: Write = ({ allowed, retryAfter }, response) => {
  if (allowed || !Number.isFinite(retryAfter)) return;
  const value = oneOrMoreSeconds(retryAfter);
  const before = response.get('Retry-After');
  const waits = wholeNumber(before);
  const isLater =
    waits === undefined
      ? typeof before === 'string' && Date.parse(before) > Date.now() + Number(value) * 1000
      : waits > Number(value);
  if (!isLater) response.set('Retry-After', value);
};

/** The headers that a decision alone gets, by name. */
export function headersBy(
  write: (decision: Decision, response: ListHeaders) => void,
  decision: Decision,
): Record<string, string> {
  const headers: Record<string, string> = {};
  const set = (name: string, value: string) => {
    headers[name] = value;
  };
  const response = { get: () => undefined, set, append: set };
  write(decision, response);
  writeRetryAfter(decision, response);
  return headers;
}

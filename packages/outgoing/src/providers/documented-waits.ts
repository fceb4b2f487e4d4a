import type { RateLimitReader, Scope } from '../reading/reading.js';
import { refusalOf } from '../reading/refusals.js';
import { at, jsonOf, textAt } from './body.js';

/** A service whose refusals state no time, and whose documentation demands a pause. @param least ms */
const waitsAtLeast =
  (least: number, scope: Scope): RateLimitReader =>
  (response) => {
    const refusal = refusalOf(response, [], response.status === 429 ? { least, scope } : {});
    return refusal === undefined ? undefined : { observed: [], refusal };
  };

/** Airtable: 30 s, for the base: see `airtableEndpoint`. */
export const airtableHeaders: RateLimitReader = waitsAtLeast(30_000, 'endpoint');

/** Airtable: all tables of a base, and all methods, share one limit. */
export function airtableEndpoint(pathname: string): string | undefined {
  const base = /\/(app[0-9A-Za-z]{14})(?:\/|$)/.exec(pathname)?.[1];
  return base === undefined ? undefined : `* /v0/${base}`;
}

/** QuickBooks: 60 s. */
export const quickbooksHeaders: RateLimitReader = waitsAtLeast(60_000, 'account');

/** Slack: limits belong to a method. A refusal may also have the status 200. */
export const slackHeaders: RateLimitReader = (response) => {
  const isRefused = textAt(jsonOf(response), 'error') === 'ratelimited';
  const refusal = refusalOf(response, [], {
    ...(isRefused && { kind: 'limit', reason: 'ratelimited' }),
    ...(response.status !== 503 && { scope: 'endpoint' }),
  });
  return refusal === undefined ? undefined : { observed: [], refusal };
};

/** Salesforce: status 403, and a budget of 24 hours. */
export const salesforceHeaders: RateLimitReader = (response) => {
  const body = jsonOf(response);
  const code = textAt(Array.isArray(body) ? body[0] : body, 'errorCode');
  const facts =
    code === 'REQUEST_LIMIT_EXCEEDED' ? ({ kind: 'quota', scope: 'account', reason: code } as const) : {};
  const refusal = refusalOf(response, [], facts);
  return refusal === undefined ? undefined : { observed: [], refusal };
};

const GOOGLE_LIMITS = ['rateLimitExceeded', 'userRateLimitExceeded'];
const GOOGLE_QUOTAS = ['quotaExceeded', 'dailyLimitExceeded'];

/** Google: status 403 or 429, with the reason in the body. */
export const googleHeaders: RateLimitReader = (response) => {
  const errors = at(jsonOf(response), 'error.errors');
  const reason = Array.isArray(errors) ? textAt(errors[0], 'reason') : '';
  const kind = GOOGLE_LIMITS.includes(reason)
    ? 'limit'
    : GOOGLE_QUOTAS.includes(reason)
      ? 'quota'
      : undefined;
  const facts = kind === undefined ? {} : ({ kind, scope: 'account', reason } as const);
  const refusal = refusalOf(response, [], facts);
  return refusal === undefined ? undefined : { observed: [], refusal };
};

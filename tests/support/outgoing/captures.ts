import type { RateLimitReading } from '../../../packages/outgoing/src/index.js';

/** When all captured responses arrived: 2026-11-24T12:00:00Z. */
export const RECEIVED_AT = Date.UTC(2026, 10, 24, 12);
const DATE = 'Tue, 24 Nov 2026 12:00:00 GMT';
const SECONDS = RECEIVED_AT / 1000;
/** The moment some seconds later. */
const later = (seconds: number) => RECEIVED_AT + seconds * 1000;

export interface Capture {
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly reading: RateLimitReading;
}

const OTHER = 'https://api.example.com/v1/things';

/** Responses as their services send them, by what they show. */
export const captures: Readonly<Record<string, Capture>> = {
  'Retry-After in seconds': {
    url: OTHER,
    status: 429,
    headers: { 'retry-after': '120' },
    reading: {
      observed: [],
      refusal: { kind: 'limit', scope: 'endpoint', until: later(120), reason: 'HTTP 429' },
    },
  },
  'Retry-After in seconds with a fraction': {
    url: 'https://shop.myshopify.com/admin/api/2026-10/orders.json',
    status: 429,
    headers: { 'retry-after': '2.0', 'x-shopify-shop-api-call-limit': '40/40' },
    reading: {
      observed: [{ dimension: 'requests', limit: 40, remaining: 0 }],
      refusal: {
        kind: 'limit',
        scope: 'dimension',
        dimension: 'requests',
        until: later(2),
        reason: 'HTTP 429',
      },
    },
  },
  'Retry-After as an HTTP date, by the clock of the upstream': {
    url: OTHER,
    status: 503,
    headers: { date: 'Tue, 24 Nov 2026 11:59:55 GMT', 'retry-after': 'Tue, 24 Nov 2026 12:00:25 GMT' },
    reading: {
      observed: [],
      refusal: { kind: 'overload', scope: 'upstream', until: later(30), reason: 'HTTP 503' },
    },
  },
  'Retry-After as an ISO 8601 time (Zoom)': {
    url: OTHER,
    status: 429,
    headers: { 'retry-after': '2026-11-24T12:05:00Z' },
    reading: {
      observed: [],
      refusal: { kind: 'limit', scope: 'endpoint', until: later(300), reason: 'HTTP 429' },
    },
  },
  'retry-after-ms, which is finer': {
    url: 'https://example.openai.azure.com/openai/responses',
    status: 429,
    headers: {
      'retry-after': '2',
      'retry-after-ms': '1250',
      'x-ratelimit-limit-tokens': '-1',
      'x-ratelimit-remaining-tokens': '-1',
      'x-ratelimit-reset-tokens': '0',
    },
    reading: {
      observed: [],
      refusal: { kind: 'limit', scope: 'endpoint', until: later(1.25), reason: 'HTTP 429' },
    },
  },
  'the text of a JavaScript Date as reset, and a header of its own (lemlist)': {
    url: OTHER,
    status: 429,
    headers: {
      'x-ratelimit-limit': '20',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': 'Tue Nov 24 2026 12:00:02 GMT+0000 (Coordinated Universal Time)',
    },
    reading: {
      observed: [{ dimension: 'requests', limit: 20, remaining: 0, resetAt: later(2), resetMeans: 'window' }],
      refusal: {
        kind: 'limit',
        scope: 'dimension',
        dimension: 'requests',
        until: later(2),
        reason: 'HTTP 429',
      },
    },
  },
  'X-Rate-Limit-Retry-After-Seconds (OpenSky)': {
    url: OTHER,
    status: 429,
    headers: { 'x-rate-limit-retry-after-seconds': '3600' },
    reading: {
      observed: [],
      refusal: { kind: 'limit', scope: 'endpoint', until: later(3600), reason: 'HTTP 429' },
    },
  },
  'X-RateLimit-Reset in milliseconds since 1970': {
    url: OTHER,
    status: 200,
    headers: {
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '7',
      'x-ratelimit-reset': String(later(60)),
    },
    reading: {
      observed: [
        { dimension: 'requests', limit: 100, remaining: 7, resetAt: later(60), resetMeans: 'window' },
      ],
    },
  },
  'X-RateLimit-Reset in seconds from now, remaining as a float (Reddit)': {
    url: 'https://oauth.reddit.com/r/node/new',
    status: 200,
    headers: { 'x-ratelimit-used': '98', 'x-ratelimit-remaining': '2.0', 'x-ratelimit-reset': '145' },
    reading: {
      observed: [{ dimension: 'requests', remaining: 2, resetAt: later(145), resetMeans: 'window' }],
    },
  },
  'RateLimit headers of drafts 3 to 6 (Kong)': {
    url: OTHER,
    status: 200,
    headers: {
      'ratelimit-limit': '100, 100;w=60, 5000;w=3600',
      'ratelimit-remaining': '42',
      'ratelimit-reset': '18',
    },
    reading: {
      observed: [
        {
          dimension: 'requests',
          limit: 100,
          window: 60_000,
          remaining: 42,
          resetAt: later(18),
          resetMeans: 'window',
        },
      ],
    },
  },
  'RateLimit as a dictionary (draft 7)': {
    url: OTHER,
    status: 429,
    headers: { ratelimit: 'limit=100, remaining=0, reset=30', 'ratelimit-policy': '100;w=60' },
    reading: {
      observed: [
        {
          dimension: 'requests',
          limit: 100,
          window: 60_000,
          remaining: 0,
          resetAt: later(30),
          resetMeans: 'window',
        },
      ],
      refusal: {
        kind: 'limit',
        scope: 'dimension',
        dimension: 'requests',
        until: later(30),
        reason: 'HTTP 429',
      },
    },
  },
  'RateLimit as a list (drafts 8 to 11), and Retry-After takes precedence': {
    url: OTHER,
    status: 429,
    headers: {
      ratelimit: '"burst";r=0;t=3, "day";r=812;t=39000',
      'ratelimit-policy': '"burst";q=10;w=10, "day";q=1000;w=86400;qu="requests";pk=:c2x1aWNl:',
      'retry-after': '4',
    },
    reading: {
      observed: [
        {
          dimension: 'requests',
          policy: 'burst',
          limit: 10,
          window: 10_000,
          remaining: 0,
          resetAt: later(3),
          resetMeans: 'window',
        },
        {
          dimension: 'requests',
          policy: 'day',
          limit: 1000,
          window: 86_400_000,
          remaining: 812,
          resetAt: later(39_000),
          resetMeans: 'window',
        },
      ],
      refusal: {
        kind: 'limit',
        scope: 'dimension',
        dimension: 'requests',
        until: later(4),
        reason: 'HTTP 429',
      },
    },
  },
  'the names that draft 12 proposes': {
    url: OTHER,
    status: 200,
    headers: { ratelimit: 'burst;a=9;w=3', 'ratelimit-policy': 'burst;q=10;w=10;qu=content-bytes' },
    reading: {
      observed: [
        {
          dimension: 'content-bytes',
          policy: 'burst',
          limit: 10,
          window: 10_000,
          remaining: 9,
          resetAt: later(3),
          resetMeans: 'window',
        },
      ],
    },
  },
  'OpenAI: a Go duration until the budget is full': {
    url: 'https://api.openai.com/v1/responses',
    status: 200,
    headers: {
      'x-ratelimit-limit-requests': '500',
      'x-ratelimit-remaining-requests': '499',
      'x-ratelimit-reset-requests': '120ms',
      'x-ratelimit-limit-tokens': '200000',
      'x-ratelimit-remaining-tokens': '180000',
      'x-ratelimit-reset-tokens': '6m0s',
    },
    reading: {
      observed: [
        { dimension: 'requests', limit: 500, remaining: 499, resetAt: later(0.12), resetMeans: 'full' },
        { dimension: 'tokens', limit: 200_000, remaining: 180_000, resetAt: later(360), resetMeans: 'full' },
      ],
    },
  },
  'OpenAI: tokens per minute': {
    url: 'https://api.openai.com/v1/responses',
    status: 429,
    headers: { 'retry-after-ms': '642', 'retry-after': '1' },
    body: '{"error":{"message":"Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000","type":"tokens","code":"rate_limit_exceeded"}}',
    reading: {
      observed: [],
      refusal: {
        kind: 'limit',
        scope: 'dimension',
        dimension: 'tokens',
        until: later(0.642),
        reason: 'tokens',
      },
    },
  },
  'OpenAI: the quota is used up': {
    url: 'https://api.openai.com/v1/responses',
    status: 429,
    headers: {},
    body: '{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}',
    reading: { observed: [], refusal: { kind: 'quota', scope: 'account', reason: 'insufficient_quota' } },
  },
  'Anthropic: RFC 3339 until the budget is full, tokens in thousands': {
    url: 'https://api.anthropic.com/v1/messages',
    status: 429,
    headers: {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '31',
      'anthropic-ratelimit-requests-reset': '2026-11-24T12:00:23Z',
      'anthropic-ratelimit-input-tokens-limit': '30000',
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-24T12:01:00Z',
      'retry-after': '41',
    },
    body: '{"type":"error","error":{"type":"rate_limit_error","message":"…"}}',
    reading: {
      observed: [
        { dimension: 'requests', limit: 50, remaining: 31, resetAt: later(23), resetMeans: 'full' },
        {
          dimension: 'input-tokens',
          limit: 30_000,
          remaining: 0,
          resetAt: later(60),
          resetMeans: 'full',
          rounding: 1000,
        },
      ],
      refusal: {
        kind: 'limit',
        scope: 'dimension',
        dimension: 'input-tokens',
        until: later(41),
        reason: 'rate_limit_error',
      },
    },
  },
  'Anthropic: overloaded, which says nothing of an account': {
    url: 'https://api.anthropic.com/v1/messages',
    status: 529,
    headers: {},
    body: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    reading: { observed: [], refusal: { kind: 'overload', scope: 'upstream', reason: 'overloaded_error' } },
  },
  'GitHub: a resource is used up, status 403': {
    url: 'https://api.github.com/search/issues?q=x',
    status: 403,
    headers: {
      date: DATE,
      'x-ratelimit-limit': '30',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-used': '30',
      'x-ratelimit-reset': String(SECONDS + 37),
      'x-ratelimit-resource': 'search',
    },
    body: '{"message":"API rate limit exceeded for user ID 1."}',
    reading: {
      observed: [{ dimension: 'search', limit: 30, remaining: 0, resetAt: later(37), resetMeans: 'window' }],
      refusal: {
        kind: 'limit',
        scope: 'dimension',
        dimension: 'search',
        until: later(37),
        reason: 'rate limit',
      },
    },
  },
  'GitHub: a secondary limit without a time': {
    url: 'https://api.github.com/repos/x/y/issues',
    status: 403,
    headers: {
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '4890',
      'x-ratelimit-reset': String(SECONDS + 1800),
      'x-ratelimit-resource': 'core',
    },
    body: '{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}',
    reading: {
      observed: [
        { dimension: 'core', limit: 5000, remaining: 4890, resetAt: later(1800), resetMeans: 'window' },
      ],
      refusal: { kind: 'limit', scope: 'account', least: 60_000, reason: 'secondary rate limit' },
    },
  },
  'GitHub: a missing right is no limit': {
    url: 'https://api.github.com/repos/x/y/issues',
    status: 403,
    headers: {
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '4889',
      'x-ratelimit-reset': String(SECONDS + 1800),
      'x-ratelimit-resource': 'core',
    },
    body: '{"message":"Resource not accessible by integration"}',
    reading: {
      observed: [
        { dimension: 'core', limit: 5000, remaining: 4889, resetAt: later(1800), resetMeans: 'window' },
      ],
    },
  },
  'Shopify GraphQL: status 200, and the body says size, level and rate': {
    url: 'https://shop.myshopify.com/admin/api/2026-10/graphql.json',
    status: 200,
    headers: {},
    body: JSON.stringify({
      errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }],
      extensions: {
        cost: {
          requestedQueryCost: 202,
          actualQueryCost: null,
          throttleStatus: { maximumAvailable: 1000, currentlyAvailable: 118, restoreRate: 50 },
        },
      },
    }),
    reading: {
      observed: [
        { dimension: 'points', limit: 1000, remaining: 118, resetAt: later(17.64), resetMeans: 'full' },
      ],
      refusal: {
        kind: 'limit',
        scope: 'dimension',
        dimension: 'points',
        reason: 'THROTTLED',
        until: later(1.68),
      },
    },
  },
  'Stripe: the reason names the scope, and there is no time': {
    url: 'https://api.stripe.com/v1/charges',
    status: 429,
    headers: { 'stripe-rate-limited-reason': 'endpoint-rate', 'stripe-should-retry': 'true' },
    reading: {
      observed: [],
      refusal: { kind: 'limit', scope: 'endpoint', reason: 'endpoint-rate', retry: true },
    },
  },
  'Stripe: another call holds the object': {
    url: 'https://api.stripe.com/v1/charges/ch_1',
    status: 429,
    headers: { 'stripe-rate-limited-reason': 'resource-specific' },
    reading: { observed: [], refusal: { kind: 'limit', scope: 'request', reason: 'resource-specific' } },
  },
  'Atlassian: the reason names the scope, reset to the minute, draft 11 as Beta-': {
    url: 'https://acme.atlassian.net/rest/api/3/issue/A-1',
    status: 429,
    headers: {
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '2026-11-24T12:01Z',
      'x-ratelimit-nearlimit': 'true',
      'ratelimit-reason': 'jira-burst-based',
      'retry-after': '17',
      'beta-ratelimit': '"jira-burst";r=0;t=17',
      'beta-ratelimit-policy': '"jira-burst";q=100;w=60',
    },
    reading: {
      observed: [
        {
          dimension: 'requests',
          policy: 'jira-burst',
          limit: 100,
          window: 60_000,
          remaining: 0,
          resetAt: later(17),
          resetMeans: 'window',
        },
      ],
      refusal: { kind: 'limit', scope: 'endpoint', until: later(17), reason: 'jira-burst-based' },
    },
  },
  'Slack: status 200 with an error': {
    url: 'https://slack.com/api/chat.postMessage',
    status: 200,
    headers: { 'retry-after': '30' },
    body: '{"ok":false,"error":"ratelimited"}',
    reading: {
      observed: [],
      refusal: { kind: 'limit', scope: 'endpoint', until: later(30), reason: 'ratelimited' },
    },
  },
  'Airtable: no time, 30 s by its documentation': {
    url: 'https://api.airtable.com/v0/appX/Table',
    status: 429,
    headers: {},
    reading: {
      observed: [],
      refusal: { kind: 'limit', scope: 'endpoint', least: 30_000, reason: 'HTTP 429' },
    },
  },
  'QuickBooks: no time, 60 s by its documentation': {
    url: 'https://quickbooks.api.intuit.com/v3/company/1/query',
    status: 429,
    headers: {},
    reading: {
      observed: [],
      refusal: { kind: 'limit', scope: 'account', least: 60_000, reason: 'HTTP 429' },
    },
  },
  'HubSpot: the limit of ten seconds': {
    url: 'https://api.hubapi.com/crm/v3/objects/contacts',
    status: 429,
    headers: {
      'x-hubspot-ratelimit-max': '100',
      'x-hubspot-ratelimit-remaining': '0',
      'x-hubspot-ratelimit-interval-milliseconds': '10000',
    },
    body: '{"status":"error","errorType":"RATE_LIMIT","policyName":"TEN_SECONDLY_ROLLING"}',
    reading: {
      observed: [{ dimension: 'requests', limit: 100, remaining: 0, window: 10_000 }],
      refusal: { kind: 'limit', scope: 'dimension', dimension: 'requests', reason: 'TEN_SECONDLY_ROLLING' },
    },
  },
  'HubSpot: the day is used up': {
    url: 'https://api.hubapi.com/crm/v3/objects/contacts',
    status: 429,
    headers: { 'x-hubspot-ratelimit-daily': '250000', 'x-hubspot-ratelimit-daily-remaining': '0' },
    body: '{"status":"error","errorType":"RATE_LIMIT","policyName":"DAILY"}',
    reading: {
      observed: [{ dimension: 'daily', limit: 250_000, remaining: 0, window: 86_400_000 }],
      refusal: { kind: 'quota', scope: 'account', reason: 'DAILY' },
    },
  },
  'Discord: the bucket of an endpoint, a reset with a fraction': {
    url: 'https://discord.com/api/v10/channels/1/messages',
    status: 429,
    headers: {
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(SECONDS + 1.5),
      'x-ratelimit-reset-after': '1.5',
      'x-ratelimit-bucket': 'abcd1234',
      'x-ratelimit-scope': 'user',
      'retry-after': '2',
    },
    reading: {
      observed: [
        { dimension: 'abcd1234', limit: 5, remaining: 0, resetAt: later(1.5), resetMeans: 'window' },
      ],
      refusal: { kind: 'limit', scope: 'endpoint', until: later(2), reason: 'user' },
    },
  },
  'Discord: the global limit': {
    url: 'https://discord.com/api/v10/channels/1/messages',
    status: 429,
    headers: { 'retry-after': '64', 'x-ratelimit-global': 'true', 'x-ratelimit-scope': 'global' },
    reading: {
      observed: [],
      refusal: { kind: 'limit', scope: 'account', until: later(64), reason: 'global' },
    },
  },
  'Salesforce: status 403, and a budget of 24 hours': {
    url: 'https://acme.my.salesforce.com/services/data/v62.0/query',
    status: 403,
    headers: {},
    body: '[{"message":"TotalRequests Limit exceeded.","errorCode":"REQUEST_LIMIT_EXCEEDED"}]',
    reading: { observed: [], refusal: { kind: 'quota', scope: 'account', reason: 'REQUEST_LIMIT_EXCEEDED' } },
  },
  'Google: status 403, with the reason in the body': {
    url: 'https://www.googleapis.com/drive/v3/files',
    status: 403,
    headers: {},
    body: '{"error":{"code":403,"errors":[{"domain":"usageLimits","reason":"userRateLimitExceeded"}]}}',
    reading: { observed: [], refusal: { kind: 'limit', scope: 'account', reason: 'userRateLimitExceeded' } },
  },
};

export type { RetryBudgetOptions } from './budget/retry-budget.js';
export type { HeaderSource, OutgoingRequest } from './calls/outgoing-request.js';
export { isUpstreamPausedError, UpstreamPausedError } from './errors.js';
export type { Settle } from './fetch/fetch-through.js';
export { type ParseOptions, parseRateLimit } from './parse-rate-limit.js';
export { anthropicHeaders } from './providers/anthropic.js';
export { atlassianHeaders } from './providers/atlassian.js';
export { discordHeaders } from './providers/discord.js';
export {
  airtableHeaders,
  googleHeaders,
  quickbooksHeaders,
  salesforceHeaders,
  slackHeaders,
} from './providers/documented-waits.js';
export { githubHeaders } from './providers/github.js';
export { hubspotHeaders } from './providers/hubspot.js';
export { openaiHeaders } from './providers/openai.js';
export { shopifyHeaders } from './providers/shopify.js';
export { standardHeaders } from './providers/standard.js';
export { stripeHeaders } from './providers/stripe.js';
export type {
  ObservedLimit,
  RateLimitReader,
  RateLimitReading,
  Refusal,
  RefusalKind,
  ResponseView,
  Scope,
} from './reading/reading.js';
export type { AnyResponse } from './reading/response-view.js';
export { type ForeignRequest, type PauseState, Upstream, upstream } from './upstream.js';
export type { RetryOptions, UpstreamOptions } from './upstream-options.js';

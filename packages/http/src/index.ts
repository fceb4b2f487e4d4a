// What the adapters share. Users import types from their adapter, which re-exports those that they need.

// A limit on requests, its options and its rules.

export * from './fixed-window-options.js';
export * from './option-functions.js';
export * from './own-limiter.js';
export { RequestLimit } from './request-limit.js';
export * from './request-limit-options.js';
export type * from './request-rules.js';
export type { Verdict } from './responder.js';
export { checkRouteOptions, RouteLimits } from './route-limits.js';

// A framework's request and response, as limits see them.

export * from './request-context.js';
export * from './request-path.js';
export * from './views.js';

// Answers to denials and errors.

export type { ResponseHeaders } from './headers/decision-headers.js';
export { keepHeaders, withResponseHeaders, writeErrorHeaders } from './headers/response-headers.js';
export { type HttpProblem, problemOfError, type RateLimitProblem } from './problem.js';
export { answerError, type Reply, replyTo } from './reply.js';
export * from './web-response.js';

// Keys of requests, also for rules and decorated methods.

export { BodyHooks, readsBody } from './body-keys.js';
export { addressError, keyErrorOfRequest, parsedBody, warnOfDryRun } from './key-errors.js';
export { countsAddresses, countsUsers, keyForFunctions, keyOfRequest } from './key-of-request.js';
export { setKeyKind } from './limiter-source.js';
export { REQUEST_FIELDS, requestField, requestUser, requestUserIfAny, type UserOf } from './request-key.js';
export * from './skipped-names.js';

// Checks that rules share with the options of a limit.

export { AddressRanges, noRange } from './address-list.js';
export { checkRules } from './rules-source.js';

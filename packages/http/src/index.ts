// What the adapters share. Users import types from their adapter, which re-exports those that they need.

// Types that users see: options, requests, replies and rules.

export type { OwnLimiter } from './own-limiter.js';
export type { HttpProblem, RateLimitProblem } from './problem.js';
export type { Reply } from './reply.js';
export type { UserOf } from './request-key.js';
export type {
  CountingOptions,
  DenialOptions,
  HeaderOptions,
  HeaderStyle,
  KeyOptions,
  Keys,
  LimitChoice,
  OfRequest,
  OneOfLimits,
  Policies,
  RequestLimitOptions,
} from './request-limit-options.js';
export type {
  FailedShadow,
  MatchedRules,
  NamedRule,
  RequestRules,
  RuledCall,
  RuleReply,
} from './request-rules.js';
export type { Proxies, RequestView } from './views.js';

// A limit on requests, and its options.

export { type FixedWindowNames, readFixedWindow } from './fixed-window-options.js';
export * from './option-functions.js';
export { withLimiter } from './own-limiter.js';
export { RequestLimit } from './request-limit.js';
export { CHOICE_OPTIONS, KEY_OPTIONS, REQUEST_LIMIT_OPTIONS } from './request-limit-options.js';
export type { Verdict } from './responder.js';

// A framework's request and response, as limits see them.

export { currentRequest, enterRequest, runWithRequest } from './request-context.js';
export {
  pathOf,
  queryOf,
  type RouterSettings,
  routeOf,
  routerPathOf,
  writtenPathOf,
} from './request-path.js';
export {
  type Advice,
  type NamedParts,
  NamedPartsView,
  NodeResponseView,
  proxiesOf,
  type ReplyLike,
  ReplyView,
  type ResponseView,
} from './views.js';

// Answers to denials and errors.

export type { ResponseHeaders } from './headers/decision-headers.js';
export { keepHeaders, withResponseHeaders, writeErrorHeaders } from './headers/response-headers.js';
export { problemOfError } from './problem.js';
export { answerError, replyTo } from './reply.js';
export { PendingResponse, webErrorResponse, webResponseOf, withHeaders } from './web-response.js';

// Keys of requests, also for rules and decorated methods.

export { addressError, keyErrorOfRequest, parsedBody, warnOfDryRun } from './key-errors.js';
export { countsAddresses, countsUsers, keyForFunctions, keyOfRequest } from './key-of-request.js';
export { setKeyKind } from './limiter-source.js';
export { REQUEST_FIELDS, readsBody, requestField, requestUser, requestUserIfAny } from './request-key.js';
export { addSkippableName, warnOfUnknownSkips } from './skipped-names.js';

// Checks that rules share with the options of a limit.

export { AddressRanges, noRange } from './address-list.js';
export { checkRules } from './rules-source.js';

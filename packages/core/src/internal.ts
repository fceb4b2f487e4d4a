// What our own packages share. No part of the public API: it may change with any release.
export { checkCost } from './admission/call-options.js';
export { errorOfDenial } from './admission/error-of-denial.js';
export { asError } from './http/as-error.js';
export { checkFunction, checkHandler } from './http/check-function.js';
export { type FixedWindowNames, readFixedWindow } from './http/fixed-window-options.js';
export { limitRequests } from './http/handle.js';
export { keepHeaders } from './http/headers/keep-headers.js';
export { type ResponseHeaders, writeErrorHeaders } from './http/headers/write-headers.js';
export { addressError, keyErrorOfRequest } from './http/key-errors.js';
export { type Keys, keyForFunctions } from './http/key-of-request.js';
export { LimitersByPolicy } from './http/limiters-by-policy.js';
export { withLimiter } from './http/own-limiter.js';
export { problemOf, problemOfError } from './http/problem.js';
export { replyTo, writeVary } from './http/reply.js';
export type { RequestCheck } from './http/request-check.js';
export { runWithRequest } from './http/request-context.js';
export { requestUser } from './http/request-key.js';
export { CHOICE_OPTIONS, KEY_OPTIONS, REQUEST_LIMIT_OPTIONS } from './http/request-limit-options.js';
export { fastifyPathOf, pathOf, routeOf } from './http/request-path.js';
export {
  type NamedParts,
  NamedPartsView,
  type Proxies,
  proxiesOf,
  REQUEST_FIELDS,
} from './http/request-view.js';
export { NodeResponseView, type ReplyLike, ReplyView, type ResponseView } from './http/response-view.js';
export type { RequestLimit, Verdict } from './http/verdict.js';
export { compileClientKey } from './keys/client-key.js';
export { readProperty } from './keys/property.js';
export { prefetchDefault } from './layers/prefetch-options.js';
export { PLACE_OPTIONS } from './limiter-options.js';
export { andThen, isPromise, type MaybePromise } from './maybe-promise.js';
export { checkBoolean, checkInteger, checkName, checkOptions, describe, givenOptions } from './options.js';
export { connectAtStart } from './stores/connect-at-start.js';

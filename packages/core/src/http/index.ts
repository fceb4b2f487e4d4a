// What our own packages share. No part of the public API: it may change with any release.

export { compileClientKey } from '../keys/client-key.js';
export { readProperty } from '../keys/property.js';
export { checkCost } from '../limiter/call-options.js';
export { errorOfDenial } from '../limiter/error-of-denial.js';
export { PLACE_OPTIONS } from '../limiter/limiter-options.js';
export { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
export { checkBoolean, checkInteger, checkName, checkOptions, describe, givenOptions } from '../options.js';
export { prefetchDefault } from '../pipeline/prefetch-options.js';
export { connectAtStart } from '../stores/store-health.js';
export { asError } from './as-error.js';
export { checkFunction, checkHandler } from './check-function.js';
export { type FixedWindowNames, readFixedWindow } from './fixed-window-options.js';
export { limitRequests } from './handle.js';
export { keepHeaders } from './headers/keep-headers.js';
export { type ResponseHeaders, writeErrorHeaders } from './headers/write-headers.js';
export { addressError, keyErrorOfRequest } from './key-errors.js';
export { type Keys, keyForFunctions } from './key-of-request.js';
export { LimitersByPolicy } from './limiters-by-policy.js';
export { withLimiter } from './own-limiter.js';
export { problemOf, problemOfError } from './problem.js';
export { replyTo, writeVary } from './reply.js';
export type { RequestCheck } from './request-check.js';
export { runWithRequest } from './request-context.js';
export { requestUser } from './request-key.js';
export { CHOICE_OPTIONS, KEY_OPTIONS, REQUEST_LIMIT_OPTIONS } from './request-limit-options.js';
export { fastifyPathOf, pathOf, routeOf } from './request-path.js';
export {
  type NamedParts,
  NamedPartsView,
  type Proxies,
  proxiesOf,
  REQUEST_FIELDS,
} from './request-view.js';
export { NodeResponseView, type ReplyLike, ReplyView, type ResponseView } from './response-view.js';
export type { RequestLimit, Verdict } from './verdict.js';

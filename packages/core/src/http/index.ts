// Internals shared by our own packages: not part of the public API, and may change with any release.

export { Agenda, type Appointment } from '../agenda.js';
export { numberOf, optional, parseFields, textOf, textOrNumber, wholeOf } from '../checked-text.js';
export { toMicros } from '../duration.js';
export { compileEscalation } from '../engine/escalate-options.js';
export type { CallCost, RulesDefinition } from '../fleet/definition.js';
export { announceRules } from '../fleet/definitions.js';
export { sharedTextScript } from '../fleet/shared-text.script.js';
export { connectAtStart } from '../health/store-health.js';
export { compileClientKey } from '../keys/client-ip.js';
export { compileKey, type KeyScope, type KeyTemplate } from '../keys/key-expression.js';
export { compileKeyList, firstKey, isKeyList, KeyListError, keyText } from '../keys/key-list.js';
export { keyPart } from '../keys/key-part.js';
export { parseLimitType } from '../keys/limit-type.js';
export { readProperty } from '../keys/property.js';
export { BaseLimiter } from '../limiter/base-limiter.js';
export { checkCost } from '../limiter/call-options.js';
export { errorOfDenial } from '../limiter/error-of-denial.js';
export { LimiterPool } from '../limiter/limiter-factory.js';
export { LIMITER_BASE_OPTIONS } from '../limiter/limiter-options.js';
export { LAYOUT } from '../limiter/limits.js';
export { readNotify } from '../limiter/notify-options.js';
export { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
export * from '../options.js';
export { prefetchDefault } from '../pipeline/prefetch/prefetch-options.js';
export { hideName } from '../public-names.js';
export { RecentMap } from '../recent-map.js';
export { isStoreRefusal } from '../store-refusal.js';
export { RULES } from '../telemetry/channels.js';
export { SpaceSaving } from '../usage/space-saving.js';
export { warn, warnOnce } from '../warnings.js';
export { AddressRanges, noRange } from './address-list.js';
export { checkRules } from './check-rules.js';
export { type FixedWindowNames, readFixedWindow } from './fixed-window-options.js';
export { keepHeaders, type ResponseHeaders, writeErrorHeaders } from './headers/response-headers.js';
export { checkJitter } from './jitter.js';
export { addressError, keyErrorOfRequest, parsedBody, warnOfDryRun } from './key-errors.js';
export {
  bodyReader,
  countsAddresses,
  countsUsers,
  keyForFunctions,
  keyOfRequest,
  readsBody,
} from './key-of-request.js';
export { setKeyKind } from './limiter-source.js';
export * from './option-functions.js';
export { withLimiter } from './own-limiter.js';
export { problemOf, problemOfError } from './problem.js';
export { replyTo, writeVary } from './reply.js';
export { currentRequest, runWithRequest } from './request-context.js';
export { REQUEST_FIELDS, requestField, requestUser, requestUserIfAny } from './request-key.js';
export { RequestLimit } from './request-limit.js';
export { CHOICE_OPTIONS, KEY_OPTIONS, type Keys, REQUEST_LIMIT_OPTIONS } from './request-limit-options.js';
export { fastifyPathOf, pathOf, routeOf, writtenPathOf } from './request-path.js';
export type {
  FailedShadow,
  MatchedRules,
  NamedRule,
  RequestRules,
  RuledCall,
  RuleReply,
} from './request-rules.js';
export { addSkippableName, warnOfUnknownSkips } from './skipped-names.js';
export type { Verdict } from './verdict.js';
export * from './views.js';

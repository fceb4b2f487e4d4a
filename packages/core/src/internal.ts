// What our own packages share of core's inside, as `@sluice/core/internal`. Not public API: it may change with any release.

// Every package checks options, and writes their errors, in the same way.

export { toMicros } from './duration.js';
export * from './options.js';
export { sharedByCopies } from './shared-by-copies.js';
export { warn, warnOnce } from './warnings.js';

// Limits on requests, on methods and in rules take the options of a limiter, and check them before they have a limiter.

export { compilePolicy } from './algorithms/index.js';
export { notePeriod, shortPeriodOf } from './algorithms/short-periods.js';
export { compileEscalation } from './engine/escalate-options.js';
export { checkCost } from './limiter/call-options.js';
export { LIMITER_BASE_OPTIONS } from './limiter/limiter-options.js';
export { readNotify } from './limiter/notify-options.js';
export { prefetchDefault } from './pipeline/prefetch/prefetch-options.js';

// Requests, calls and rules compute their keys with one language: templates, lists, addresses.

export { addressFamily, compileClientKey, groupsOf } from './keys/client-ip.js';
export { compileKey, type KeyScope, type KeyTemplate } from './keys/key-expression.js';
export {
  compileKeyList,
  firstKey,
  isKeyList,
  KeyListError,
  keyText,
  type ListedKey,
} from './keys/key-list.js';
export { keyPart } from './keys/key-part.js';
export { parseLimitType } from './keys/limit-type.js';
export { readProperty } from './keys/property.js';

// A request in memory is decided without a promise, and a denial becomes the same error everywhere.

export { BaseLimiter } from './limiter/base-limiter.js';
export { errorOfDenial, isFailureDenial } from './limiter/error-of-denial.js';
export { andThen, isPromise, type MaybePromise } from './maybe-promise.js';
export { isStoreRefusal } from './store-refusal.js';

// Limits own limiters: one for each plan in bounded memory, connected when the server starts.

export { connectAtStart } from './health/store-health.js';
export { LimiterPool } from './limiter/limiter-factory.js';

// Limiters of decorated methods are named after the program's classes, and clients see another name.

export { hideName, publicName } from './public-names.js';

// Clients and logs see hashes of keys; checks of requests run on the runtime's own timers.

export { hashStoredKey } from './hash-key.js';
export { setImmediate } from './native-timers.js';

// Rules are read from the store again after a change, and published to the fleet.

export { Agenda, type Appointment } from './agenda.js';
export { numberOf, optional, parseFields, textOf, textOrNumber, wholeOf } from './checked-text.js';
export type { CallCost, RulesDefinition } from './fleet/definition.js';
export { announceRules } from './fleet/definitions.js';
export { sharedTextScript } from './fleet/shared-text.script.js';
export { LAYOUT } from './limiter/limits.js';
export { RULES } from './telemetry/channels.js';

// `simulate` and rollouts count many keys in bounded memory.

export { RecentMap } from './recent-map.js';
export { SpaceSaving } from './usage/space-saving.js';

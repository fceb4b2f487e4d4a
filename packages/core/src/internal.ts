// What our own packages share of core's inside, as `@sluice/core/internal`. Not public API: it may change with any release.

import { hasBackground as ofPlatform } from '#platform';

// Every package checks options, and writes their errors, in the same way.

export { toMicros } from './duration.js';
export * from './maps.js';
export * from './options.js';
export { warn, warnOnce } from './warnings.js';

// Limits on requests, on methods and in rules take the options of a limiter, and check them before they have a limiter.

export { compileEscalation } from './algorithms/escalate-options.js';
export { compilePolicy } from './algorithms/index.js';
export { notePeriod, shortPeriodOf } from './algorithms/policy-kind.js';
export { checkCost } from './limiter/call-options.js';
export {
  checkDeadline,
  checkLimiterOptions,
  LIMITER_BASE_OPTIONS,
  USUAL_DEADLINE,
} from './limiter/limiter-options.js';
export { readNotify } from './limiter/observer.js';
export { prefetchDefault } from './limiter/prefetch-options.js';

// Rules take the options of each algorithm, and tools show policies in words, from one list.

export { type EachKind, kindsWithWindows, policyKinds, policyText } from './algorithms/index.js';
export type { PolicyKind, PolicyOption } from './algorithms/policy-kind.js';
export { lengthText } from './duration.js';

// Requests, calls and rules compute their keys with one language: templates, lists, addresses.

export { addressFamily, compileClientKey, groupsOf } from './keys/client-ip.js';
export { compileKey, type KeyScope, type KeyTemplate } from './keys/key-expression.js';
export * from './keys/key-list.js';
export { readProperty } from './keys/property.js';
export { keyPart } from './keys/redis-key.js';

// A request in memory is decided without a promise, a denial becomes the same error everywhere, and a refund takes what adapters show.

export { BaseLimiter } from './limiter/base-limiter.js';
export { DECISION_OF, decisionOf, errorOfDenial, isFailureDenial } from './limiter/decision-record.js';
export { andThen, isPromise, type MaybePromise } from './maybe-promise.js';
export { isStoreRefusal } from './store-refusal.js';

// Limits own limiters: one for each plan in bounded memory, connected when the server starts.

export { connectAtStart } from './health/store-health.js';
export { LimiterPool } from './limiter/limiter-factory.js';

// Limiters of decorated methods are named after the program's classes, and clients see another name.

export { hideName, publicName } from './public-names.js';

// Clients and logs see hashes of keys; checks of requests run on the runtime's own timers.

export { hashStoredKey } from './keys/redis-key.js';
export { clearTimeout, setImmediate, setTimeout } from './runtime.js';

// `@sluice/upstash` is the Redis store over a client of its own, also where code may not run between requests.

export { RedisStore } from './stores/redis/redis-store.js';
/** A constant with its type, because the declarations of dist cannot resolve #platform. */
export const hasBackground: boolean = ofPlatform;

// `@sluice/serve` decides several descriptors together, and names the binding policy of each.

export { bindingPart } from './call/call.js';

// Rules are read from the store again after a change, and published to the fleet.

export { Agenda } from './agenda.js';
export * from './board/definition.js';
export { announce, announceRules } from './board/definitions.js';
export * from './board/shared-texts.js';
export { LAYOUT } from './limiter/limits.js';
export { DECISION, RULES, STORE_CALL, THRESHOLD } from './telemetry/channels.js';

// `@sluice/outgoing` waits for pauses, whose waits share a listener of a signal, and publishes them.

export { Publisher } from './board/definitions.js';
export { onAbort, Stop } from './limiter/waiting/stop.js';
export { PAUSE } from './telemetry/channels.js';

// `@sluice/fleet` reads what processes publish, counts, and sends denials.

export * from './board/board.js';
export { publishDefinitions, publishedHost } from './board/definitions.js';
export type { DenialSource, StoreWatching } from './board/watching.js';
export { isDegraded } from './call/answers.js';
export type { CallParts } from './call/call.js';
export type { Thresholds } from './call/limit.js';
export { LONGEST_TIMER, unref } from './clock.js';
export { decodeKey, detach, encodeKey, HASH_LENGTH } from './keys/redis-key.js';
export type { CallObserver, ObservedLimiter } from './limiter/observer.js';
export { VERSION } from './runtime.js';
export { redisScripts } from './stores/redis/wire.js';
export { BOARD, boardOf } from './telemetry/channels.js';

// `inspectKey` and `openLimiter` decide by the definition of a limiter in another process.

export { JITTER, NEVER } from './algorithms/algorithm.js';
export { KeyCall } from './call/call.js';
export { decide } from './engine/decide.js';
export { isEnvelope, type StoredKey } from './engine/entry.js';
export { escalatedAt } from './engine/escalation.js';
export { KeyState } from './engine/key-state.js';
export { debugOf } from './limiter/decision-record.js';
export { deciderOf } from './limiter/limiter-options.js';

// `@sluice/entries` is a store over a database: it keeps the same entries as Redis, and decides on them in this process.

export { loadFleet, usageOf } from './board/watching.js';
export { type Answer, type Call, EVERYONE, type Part, storageKey } from './call/call.js';
export type { Departure, DepartureDeadline } from './call/deadlines.js';
export { PendingCall, THE_ANSWER } from './call/pending-call.js';
export { decideBare } from './engine/bare.js';
export { decodeEntry, type Entry, encodeEntry, expiryOf, numbersOf, packed } from './engine/entry.js';
export { ESCALATION_SUFFIX, type EscalationState } from './engine/escalation.js';
export { StoreHealth } from './health/store-health.js';
export type { RateAnswer, RateChange, StoredRate } from './stores/shared-rate.js';

// `@sluice/meter` holds amounts of several limits, shows the rest, and publishes its holds.

export * from './algorithms/hold/hold.js';
export { HOLD } from './telemetry/channels.js';

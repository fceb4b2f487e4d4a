export { lengthText, policyText } from '@sluice/core/internal';
export {
  type FleetProcess,
  ownerOf,
  type Published,
  readDefinitions,
} from './definitions/read-definitions.js';
export type { LeftOut } from './definitions/read-notes.js';
export type { DenialReport, FleetDenial } from './denials/denial-report.js';
export { type DenialFollower, type Followed, followDenials } from './denials/follow-denials.js';
export {
  type DenialLine,
  type DenialLogger,
  type LogDenialsOptions,
  logDenials,
} from './denials/log-denials.js';
export {
  type InspectedKey,
  type InspectedPolicy,
  type InspectOptions,
  inspectKey,
} from './inspect/inspect.js';
export type { InspectedEscalation } from './inspect/inspect-escalation.js';
export { openLimiter } from './inspect/open-limiter.js';
export {
  type NotedPause,
  type NotedUpstream,
  type PausingProcess,
  readPauses,
} from './pauses/read-pauses.js';
export type { KeyUse, PolicyUse } from './usage/key-use.js';
export {
  type LimiterUsageReport,
  type ProcessReport,
  readUsage,
  type UsageReport,
} from './usage/read-usage.js';
export type { ResultCounts } from './usage/result-slots.js';

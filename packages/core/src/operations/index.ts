export { toMicros } from '../duration.js';
export type { FleetBoard, FleetKind, FleetNote } from '../fleet/board.js';
export type {
  CallCost,
  DefinitionKind,
  LimiterDefinition,
  PlanDefinition,
  ProcessDefinitions,
  RulesDefinition,
} from '../fleet/definition.js';
export type { LeftOut } from '../fleet/read-notes.js';
export { hashStoredKey } from '../hash-key.js';
export { decodeKey, encodeKey } from '../keys/redis-key.js';
export { LAYOUT } from '../limiter/limits.js';
export { redisScripts } from '../stores/redis/scripts.js';
export { OTHER_LIMITERS } from '../usage/usage-summary.js';
export { type FleetProcess, ownerOf, type Published, readDefinitions } from './definitions.js';
export type { DenialReport, FleetDenial } from './denial-report.js';
export { type DenialFollower, type Followed, followDenials } from './follow-denials.js';
export { type InspectedKey, type InspectedPolicy, type InspectOptions, inspectKey } from './inspect.js';
export type { InspectedEscalation } from './inspect-escalation.js';
export { openLimiter } from './open-limiter.js';
export { lengthText, policyText } from './policy-text.js';

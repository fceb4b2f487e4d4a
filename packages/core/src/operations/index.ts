export { toMicros } from '../duration.js';
export type { FleetBoard, FleetKind, FleetNote } from '../fleet/board.js';
export type { DefinitionKind, LimiterDefinition, ProcessDefinitions } from '../fleet/definitions.js';
export { decodeKey } from '../keys/redis-key.js';
export { LAYOUT } from '../limiter/limits.js';
export { redisScripts } from '../stores/redis/scripts.js';
export { type FleetProcess, type Published, readDefinitions } from './definitions.js';
export { type InspectedKey, type InspectedPolicy, type InspectOptions, inspectKey } from './inspect.js';
export { openLimiter } from './open-limiter.js';

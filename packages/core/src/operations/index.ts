export type { FleetBoard, FleetKind, FleetNote } from '../fleet/board.js';
export type { DefinitionKind, LimiterDefinition, ProcessDefinitions } from '../fleet/definitions.js';
export { type FleetProcess, readDefinitions } from './definitions.js';
export { type InspectedKey, type InspectedPolicy, type InspectOptions, inspectKey } from './inspect.js';
export { openLimiter } from './open-limiter.js';

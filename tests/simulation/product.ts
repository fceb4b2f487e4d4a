// What each simulated process loads: a copy of our packages of its own, with its own time and chance.
export { PendingCall } from '../../packages/core/src/call/pending-call.js';
export { systemClock } from '../../packages/core/src/clock.js';
export { StoreHealth } from '../../packages/core/src/health/store-health.js';
export * from '../../packages/core/src/index.js';
export { DecisionRecord } from '../../packages/core/src/limiter/decision-record.js';
export { DecidedTurn } from '../../packages/entries/src/decided-turn.js';
export { EntryStore } from '../../packages/entries/src/index.js';
export { meter } from '../../packages/meter/src/index.js';

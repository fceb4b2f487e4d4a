export { type LimitableServer, limitTools } from './limit-tools.js';
export { type ToolLimits, toolLimits } from './tool-limits.js';
export type { CallExtra, ToolCall, ToolLimitsOptions } from './tool-limits-options.js';

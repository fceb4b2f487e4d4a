export { type Dashboard, type DashboardOptions, dashboard } from './dashboard.js';
export { nodeHandler } from './node-handler.js';

export { type Dashboard, type DashboardOptions, dashboard } from './dashboard.js';
export type { Finding } from './messages.js';
export { nodeHandler } from './node-handler.js';
export { type ServedDashboard, type ServeOptions, serveDashboard } from './serve.js';

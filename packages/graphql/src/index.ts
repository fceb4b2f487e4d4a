export { type Admission, type CostLimit, costLimit, type GraphqlOperation } from './cost-limit.js';
export type { CostLimitOptions, ListSize, Weight } from './cost-limit-options.js';
export type { ApolloPlugin, EnvelopPlugin } from './plugins.js';

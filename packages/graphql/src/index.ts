export type { Admission, GraphqlOperation } from './admission.js';
export { type CostLimit, costLimit } from './cost-limit.js';
export type { CostDefaults, CostLimitOptions, ListSize, Weight } from './cost-limit-options.js';
export type { ApolloPlugin, EnvelopPlugin } from './plugins.js';

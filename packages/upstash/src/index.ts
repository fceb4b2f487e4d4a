export { type UpstashStore, upstashStore } from './upstash-store.js';
export type { UpstashStoreOptions } from './upstash-store-options.js';

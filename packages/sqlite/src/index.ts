export type { Database, DriverName, OpenFile, Statement } from './drivers.js';
export type { SqliteFacts } from './facts.js';
export { SqliteStore, type SqliteStoreOptions, sqliteStore } from './sqlite-store.js';

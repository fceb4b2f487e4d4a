export type { DriverName } from './drivers.js';
export { SqliteStore, type SqliteStoreOptions, sqliteStore } from './sqlite-store.js';

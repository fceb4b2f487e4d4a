export type { Database, DriverName, OpenFile, Statement } from './drivers.js';
export { SqliteStore, type SqliteStoreOptions, sqliteStore } from './sqlite-store.js';

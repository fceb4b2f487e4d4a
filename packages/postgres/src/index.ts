export type { PgClient, PostgresClient, PostgresJs } from './clients.js';
export { PostgresStore, type PostgresStoreOptions, postgresStore } from './postgres-store.js';

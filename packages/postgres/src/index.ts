export type { PgClient, PgQuery, PostgresClient, PostgresJs } from './clients.js';
export { PostgresStore, type PostgresStoreOptions, postgresStore } from './postgres-store.js';

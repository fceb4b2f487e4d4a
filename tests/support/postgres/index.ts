export { databaseUrl, sql, withDatabase } from './database.ts';
export { type PostgresOptions, type PostgresServer, startPostgres } from './postgres-server.ts';

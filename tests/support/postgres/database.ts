import { Client } from 'pg';
import { uniqueName } from '../redis-url.ts';
import type { PostgresServer } from './postgres-server.ts';

type Row = Record<string, unknown>;

/** Runs statements, one after the other, on a connection of their own. @returns the rows of the last */
export async function sql(url: string, ...statements: readonly string[]): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined); // the statement rejects, too
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) rows = (await client.query<Row>(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

/** Calls `use` with the address of a new, empty database, and drops it afterwards. */
export async function withDatabase<T>(
  { url }: Pick<PostgresServer, 'url'>,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const name = uniqueName('sluice').replaceAll('-', '_');
  await sql(url, `CREATE DATABASE ${name}`);
  try {
    return await use(databaseUrl(url, name));
  } finally {
    await sql(url, `DROP DATABASE ${name} WITH (FORCE)`);
  }
}

/** The same address with another database. */
export function databaseUrl(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

import { StoreConfigurationError } from '@sluice/core';
import { quoted } from './sql.js';

/** What a store needs of a client: one connection. `new pg.Client(…)` is one. */
export interface PgClient {
  connect(): Promise<unknown>;
  query(query: PgQuery): Promise<{ readonly rows: readonly unknown[] }>;
  end(): Promise<unknown>;
  on(event: 'error' | 'end' | 'notification', listener: (event: never) => void): unknown;
}

export interface PgQuery {
  readonly text: string;
  readonly values?: unknown[];
  readonly name?: string;
  readonly rowMode: 'array';
}

/** What `postgres(url, { max: 1 })` of postgres.js returns. */
export interface PostgresJs {
  unsafe(
    query: string,
    values?: never[],
    options?: { prepare?: boolean },
  ): { values(): PromiseLike<readonly unknown[]> };
  listen(channel: string, heard: (payload: string) => void): Promise<unknown>;
  end(options?: { timeout?: number }): Promise<unknown>;
  readonly options: { readonly max: number };
}

export type PostgresClient = PgClient | PostgresJs;

export type Row = readonly unknown[];

/** One connection, of either client. Queries are sent at once, and answered in order. Only one without values may have several statements. */
export interface Link {
  connect(): Promise<unknown>;
  query(text: string, values?: readonly unknown[], name?: string): Promise<readonly Row[]>;
  /** @param heard gets the payload of each message */
  listen(channel: string, heard: (payload: string) => void): Promise<unknown>;
  /** Calls `lost` when the connection ends, if the client says so. */
  onLost(lost: (error: Error) => void): void;
  /** @param now does not wait for the server, which may be silent */
  end(now: boolean): void;
}

/** The link of a client that `connect` has returned. @throws TypeError */
export function linkOf(client: PostgresClient): Link {
  const { unsafe, query, options } = Object(client) as Partial<PgClient & PostgresJs>;
  if (typeof unsafe === 'function') {
    if (options?.max === 1) return postgresJsLink(client as PostgresJs);
    throw new TypeError('postgresStore: connect must return postgres(…) with max: 1, a connection of its own');
  }
  if (typeof query === 'function' && 'end' in client && 'on' in client) return pgLink(client as PgClient);
  throw new TypeError('postgresStore: connect must return a new client: new pg.Client(…), or postgres(…)');
}

function pgLink(client: PgClient): Link {
  // Otherwise each query of a trip would wait for the reply to the one before.
  if ('pipeline' in client) client.pipeline = true;
  return {
    connect: () => client.connect(),
    query: async (text, values, name) => {
      const query = { text, rowMode: 'array' } as const;
      const { rows } = await client.query(
        values === undefined
          ? query
          : { ...query, values: values as unknown[], ...(name !== undefined && { name }) },
      );
      return rows as readonly Row[];
    },
    listen: (channel, heard) => {
      client.on('notification', ({ payload }: { payload?: string }) => heard(payload ?? ''));
      return client.query({ text: `LISTEN ${quoted(channel)}`, rowMode: 'array' });
    },
    onLost: (lost) => {
      client.on('error', lost);
      client.on('end', () => lost(new Error('the connection ended')));
    },
    end: (now) => {
      client.end().catch(() => {}); // it may be lost already
      if (now) (client as { connection?: { stream?: { destroy?(): void } } }).connection?.stream?.destroy?.();
    },
  };
}

function postgresJsLink(sql: PostgresJs): Link {
  return {
    connect: async () => sql.unsafe('SELECT 1').values(),
    query: async (text, values, name) => {
      if (values === undefined) return (await sql.unsafe(text).values()) as readonly Row[];
      return (await sql
        .unsafe(text, values as never[], { prepare: name !== undefined })
        .values()) as readonly Row[];
    },
    listen: (channel, heard) => sql.listen(channel, heard),
    onLost: () => {},
    end: () => void sql.end({ timeout: 0 }).catch(() => {}),
  };
}

/**
 * Loads `pg`. @returns a function that makes a client of an address or its options
 * @throws StoreConfigurationError that says what to install
 */
export async function loadPg(): Promise<(options: object) => PgClient> {
  try {
    const loaded: { default: { Client: new (options: object) => PgClient } } = await import('pg' as string);
    return (options) => new loaded.default.Client(options);
  } catch (cause) {
    throw new StoreConfigurationError(
      'postgres store: pg is not installed: npm install pg, or give postgresStore a function `connect` that returns a client',
      { cause },
    );
  }
}

import { randomUUID } from 'node:crypto';
import { StoreConfigurationError } from '@sluice/core';
import { clearTimeout, setTimeout, unref } from '@sluice/core/internal';
import type { TableLink } from '@sluice/entries';
import { quoted } from './sql.js';

/** What a store needs of a client, which is one connection: `new pg.Client(…)`. */
export interface PgClient {
  connect(): Promise<unknown>;
  query(query: {
    readonly text: string;
    readonly values?: unknown[];
    readonly name?: string;
    readonly rowMode: 'array';
  }): Promise<{ readonly rows: readonly unknown[] }>;
  end(): Promise<unknown>;
  on(event: 'error' | 'end' | 'notification', listener: (event: never) => void): unknown;
}

/** What `postgres(url, { max: 1 })` of postgres.js returns. */
export interface PostgresJs {
  unsafe(
    text: string,
    values?: never[],
    options?: { prepare?: boolean },
  ): { values(): PromiseLike<readonly unknown[]> };
  listen(
    channel: string,
    heard: (payload: string) => void,
    listening?: () => void,
  ): Promise<{ unlisten(): Promise<unknown> }>;
  end(options?: { timeout?: number }): Promise<unknown>;
  readonly options: { readonly max: number };
}

/** ms for a graceful end. A silent server would keep the process alive for minutes. */
const GOODBYE = 1_000;

export type PostgresClient = PgClient | PostgresJs;

/** One connection, of either client. Queries are sent at once and answered in order. */
export interface Link extends TableLink {
  /** @param name keeps the statement prepared. Several statements have no values */
  query(text: string, values?: readonly unknown[], name?: string): Promise<readonly (readonly unknown[])[]>;
  /** @param again is called when a client that connects again by itself has done so: messages may have been lost */
  listen(channel: string, heard: (payload: string) => void, again: () => void): Promise<unknown>;
  /** Resolves when the server answers on the connection that listens. */
  probe(): Promise<unknown>;
}

/** @throws TypeError unless it is a client with one connection */
export function linkOf(client: PostgresClient): Link {
  if (typeof client === 'function' && (client as PostgresJs).options?.max === 1)
    return postgresJsLink(client);
  if (typeof (client as Partial<PgClient>)?.query === 'function' && !('totalCount' in client))
    return pgLink(client as PgClient);
  throw new TypeError(
    'postgresStore: connect must return a new client with one connection: new pg.Client(…), or postgres(…, { max: 1 }) of postgres.js',
  );
}

function pgLink(client: PgClient): Link {
  // Otherwise each query waits for the reply to the one before.
  Object.assign(client, { pipeline: true });
  return {
    connect: () => client.connect(),
    query: async (text, values, name) => {
      const given = values && { values: [...values], ...(name !== undefined && { name }) };
      const { rows } = await client.query({ text, rowMode: 'array', ...given });
      return rows as unknown[][];
    },
    listen: (channel, heard) => {
      client.on('notification', ({ payload }: { payload: string }) => heard(payload));
      return client.query({ text: `LISTEN ${quoted(channel)}`, rowMode: 'array' });
    },
    probe: () => client.query({ text: 'SELECT 1', rowMode: 'array' }),
    onLost: (lost) => {
      client.on('error', lost);
      client.on('end', () => lost(new Error('the connection ended')));
    },
    end: (now) => {
      const destroy = () =>
        (client as { connection?: { stream?: { destroy?(): void } } }).connection?.stream?.destroy?.();
      const timer = unref(setTimeout(destroy, GOODBYE));
      const ended = () => clearTimeout(timer);
      client.end().then(ended, ended); // it may be lost already
      if (now) destroy();
    },
  };
}

function postgresJsLink(sql: PostgresJs): Link {
  const query = (text: string, values?: readonly unknown[], name?: string) =>
    Promise.resolve(sql.unsafe(text, values as never[], { prepare: name !== undefined }).values());
  return {
    connect: () => query('SELECT 1'),
    query: async (...args) => (await query(...args)) as unknown[][],
    listen: (channel, heard, again) => sql.listen(channel, heard, again),
    // It listens on a connection of its own, which only LISTEN and UNLISTEN reach. Each new name is sent to the server.
    probe: async () => (await sql.listen(`sluice probe ${randomUUID()}`, () => {})).unlisten(),
    onLost: () => {},
    end: () => void sql.end({ timeout: 0 }).catch(() => {}), // it may be lost already
  };
}

/** @returns makes a client. @throws StoreConfigurationError that says what to install */
export async function loadPg(): Promise<(options: object) => PgClient> {
  try {
    const { default: pg } = await import('pg');
    return (options) => new pg.Client(options) as unknown as PgClient;
  } catch (cause) {
    throw new StoreConfigurationError(
      'postgresStore: pg is not installed: npm install pg, or give postgresStore a function `connect` that returns a client',
      { cause },
    );
  }
}

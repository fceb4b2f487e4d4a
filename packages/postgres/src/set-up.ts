import { StoreConfigurationError } from '@sluice/core';
import type { Link } from './clients.js';
import { serverIsStandby } from './errors.js';
import { COLUMNS, type Sql } from './sql.js';

/** What a connection looks for. */
export interface Wanted {
  readonly sql: Sql;
  /** The name of the table, for messages. */
  readonly name: string;
  /** Is the table made if there is none? */
  readonly create: boolean;
}

/** Resolves when the server has the table. @throws StoreUnavailableError, StoreConfigurationError; all errors of the client */
export async function setUp(link: Link, { sql, name, create }: Wanted): Promise<void> {
  const look = async () => (await link.query(sql.inspect, []))[0] ?? [];
  const [before, isStandby] = await look();
  // A standby refuses an UNLOGGED table with the code of a mistake (0A000). A connection to it would also stay there after a failover.
  if (isStandby === true) throw serverIsStandby();
  let found = before;
  if (found === null && !create)
    throw new StoreConfigurationError(
      `postgresStore: there is no table ${name}: give postgresStore the name of its table, or make it: ${sql.tableStatement}`,
    );
  if (found === null) {
    await link.query(sql.create);
    [found] = await look();
  }
  if (found !== COLUMNS)
    throw new StoreConfigurationError(
      `postgresStore: the table ${name} belongs to another program (it has ${found}): give postgresStore a table of its own`,
    );
}

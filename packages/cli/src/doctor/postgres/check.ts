import type { Report } from '../check.js';
import type { ExaminedPostgres } from './server.js';

/** Examines a Postgres. `about` is also the id of its `ok`. */
export interface PostgresCheck<Id extends string = string> {
  readonly about: string;
  readonly why: Readonly<Record<Id, string>>;
  /** @param deadline the longest time that the limiters wait for a decision, ms */
  look(server: ExaminedPostgres, report: Report<Id>, deadline: number): Promise<void>;
}

export const postgresCheck = <Id extends string>(check: PostgresCheck<Id>): PostgresCheck =>
  check as PostgresCheck;

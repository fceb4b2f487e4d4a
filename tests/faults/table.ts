import { appendFileSync } from 'node:fs';

/** One line of the table of `docs/reliability.md`, with what was measured. */
export interface FaultRow {
  readonly group:
    | 'network'
    | 'refusals'
    | 'set-up'
    | 'lost state'
    | 'cluster and failover'
    | 'race of eight processes'
    | 'bounds';
  readonly fault: string;
  /** What callers were answered while it lasted. */
  readonly seen: string;
  /** The longest, in ms, that a caller waited for an answer before the store was known to be out. */
  readonly first?: number;
  /** The median, in ms, after that. */
  readonly known?: number;
  /** What the server had counted when it was over. */
  readonly counted: string;
  /** From the end of the fault until Redis decided again, in ms. */
  readonly recovered?: number;
}

/** Keeps a row for the table that `npm run test:faults` makes of them; any other run has no table. */
export function record(row: FaultRow): void {
  const file = process.env.SLUICE_FAULT_ROWS;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`);
}

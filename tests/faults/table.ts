import { appendFileSync } from 'node:fs';

/** One row of the table in `docs/reliability.md`, with its measurements. */
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
  /** The answers of calls during the fault. */
  readonly seen: string;
  /** Longest wait for an answer before the store was known to be out, ms. */
  readonly first?: number;
  /** Median wait after that, ms. */
  readonly known?: number;
  /** The server's count after the fault. */
  readonly counted: string;
  /** From the end of the fault until Redis decided again, ms. */
  readonly recovered?: number;
}

/** Appends a row to the file from which `npm run test:faults` makes the table. Other runs have no such file. */
export function record(row: FaultRow): void {
  const file = process.env.SLUICE_FAULT_ROWS;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`);
}

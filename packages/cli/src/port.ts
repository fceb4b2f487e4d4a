import { CliError } from './cli-error.js';

/** @throws CliError unless it is a number from 0 to 65535 */
export function portOf(flag: string, given: unknown): number {
  if (/^\d{1,5}$/.test(String(given)) && Number(given) <= 65_535) return Number(given);
  throw new CliError(`${flag} takes a number from 0 to 65535, not ${given}.`);
}

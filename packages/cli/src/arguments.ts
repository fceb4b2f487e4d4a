import { toMicros } from '@sluice/core/internal';
import { CliError } from './cli-error.js';

type Given = string | boolean | undefined;

/** A number of permits from the command line. */
export function permitsOf(what: string, given: Given, least = 1): number {
  const permits = typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
  if (permits >= least) return permits;
  throw new CliError(`${what} must be a whole number of at least ${least}, not ${JSON.stringify(given)}.`);
}

/** A required duration from the command line, unchanged. */
export function durationOf(what: string, given: Given): string {
  if (typeof given !== 'string')
    throw new CliError(`${what} is missing.`, `Say for how long: ${what} 1h, ${what} 15m.`);
  toMicros(what, given);
  return given;
}

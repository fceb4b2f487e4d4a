/** A period given as a number below 1000: milliseconds, but perhaps meant as seconds. */
export interface ShortPeriod {
  /** The name of the option, such as `window`. */
  readonly option: string;
  readonly value: number;
}

const SECOND_MS = 1000;

// Registered globally: a program may load this package twice, as ESM and as CJS.
const PERIOD = Symbol.for('sluice.short-period');

/**
 * Remembers on a policy that its period was given as a number below one second. Copies and JSON of the policy do not show it.
 * @param value the option as given; a text such as '1s' names its unit, so it is not recorded
 */
export function notePeriod<P extends object>(policy: P, option: string, value: unknown): P {
  if (typeof value !== 'number' || value >= SECOND_MS) return policy;
  return Object.defineProperty(policy, PERIOD, { value: { option, value }, configurable: true });
}

export const shortPeriodOf = (policy: object): ShortPeriod | undefined =>
  (policy as { readonly [PERIOD]?: ShortPeriod })[PERIOD];

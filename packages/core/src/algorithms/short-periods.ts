/** A period given as a number below 1000: milliseconds, but perhaps meant as seconds. */
export interface ShortPeriod {
  /** The name of the option, such as `window`. */
  readonly option: string;
  readonly value: number;
}

const SECOND_MS = 1000;

// Registered globally: a program may load this package twice, as ESM and as CJS.
const slot = Symbol.for('sluice.short-periods');
const shared = globalThis as { [slot]?: WeakMap<object, ShortPeriod> };
shared[slot] ??= new WeakMap();
const periods = shared[slot];

/**
 * Remembers that the period of a policy was given as a number below one second. A policy is plain data and cannot carry this itself.
 * @param value the option as given; a text such as '1s' names its unit, so it is not recorded
 */
export function notePeriod<P extends object>(policy: P, option: string, value: unknown): P {
  if (typeof value === 'number' && value < SECOND_MS) periods.set(policy, { option, value });
  return policy;
}

export const shortPeriodOf = (policy: object): ShortPeriod | undefined => periods.get(policy);

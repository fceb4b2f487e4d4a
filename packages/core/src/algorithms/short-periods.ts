/** A period that was given as a number below 1000: milliseconds that may have been meant as seconds. */
export interface ShortPeriod {
  /** The option that it was given by, such as `window`. */
  readonly option: string;
  readonly value: number;
}

const SECOND_MS = 1000;

// One for the whole process: a program may load this package twice, as ESM and as CJS.
const slot = Symbol.for('sluice.short-periods');
const shared = globalThis as { [slot]?: WeakMap<object, ShortPeriod> };
shared[slot] ??= new WeakMap();
const periods = shared[slot];

/**
 * Remembers of a policy that its period was given as a number below one second. A policy is plain data, so it cannot say so itself.
 * @param value as it was given: text has a unit, and is what it says
 */
export function notePeriod<P extends object>(policy: P, option: string, value: unknown): P {
  if (typeof value === 'number' && value < SECOND_MS) periods.set(policy, { option, value });
  return policy;
}

export const shortPeriodOf = (policy: object): ShortPeriod | undefined => periods.get(policy);

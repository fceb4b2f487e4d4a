import { MAX_MICROS } from '../duration.js';

/** Rounds down to whole permits, but to at least 1: a share of 0 would close the limit. A closed limit stays closed. */
export const permitsOf = (permits: number, share: number): number =>
  permits === 0 ? 0 : Math.max(1, Math.floor(permits * share));

/**
 * The time (ms) in which `refill` permits come back to a share of the limit: whole µs for each permit, rounded up, so that any rate
 * stays exact.
 */
export function timeOf(ms: number, refill: number, share: number): number {
  if (refill === 0) return ms;
  const each = Math.ceil((ms * 1000) / share / refill);
  return Math.min(MAX_MICROS, each * refill) / 1000;
}

/**
 * The quotient of two whole numbers below 2^53, rounded up. It is exact: a quotient that is not whole is at least 1 / b away from
 * the next whole number, and rounding to a double moves it by less. The remainder, `%`, takes ten times as long.
 */
export const up = (a: number, b: number): number => Math.ceil(a / b);

/** The same, rounded down. */
export const down = (a: number, b: number): number => Math.floor(a / b);

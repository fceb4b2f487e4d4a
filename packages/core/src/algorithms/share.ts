import { MAX_MICROS } from '../duration.js';

/** A share of permits, rounded down, but at least 1: 0 would close the limit. A closed limit stays closed. */
export const permitsOf = (permits: number, share: number): number =>
  permits === 0 ? 0 : Math.max(1, Math.floor(permits * share));

/** The same policy with a share of its limit. */
export const shareOfLimit = <P extends { readonly limit: number }>(policy: P, share: number): P => ({
  ...policy,
  limit: permitsOf(policy.limit, share),
});

/**
 * The time (ms) in which `refill` permits come back to a share of the limit: whole µs for each permit, rounded up, so that any rate
 * stays exact.
 */
export function timeOf(ms: number, refill: number, share: number): number {
  if (refill === 0) return ms;
  const each = Math.ceil((ms * 1000) / share / refill);
  return Math.min(MAX_MICROS, each * refill) / 1000;
}

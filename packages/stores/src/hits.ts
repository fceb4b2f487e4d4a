import type { Decision } from '@sluice/core';

/**
 * The limit of a counter whose hits only the host compares with a limit. A window never has 10¹² hits, and a power of two divides
 * without a rounding error.
 */
export const COUNT_ONLY = 2 ** 40;

/** Removes the rounding error of a share that is no binary fraction. */
const ROUNDING = 1e-6;

/** The limit of the counter: a host's limit that no count reaches, such as `Infinity`, only counts. */
export const countedLimit = (limit: number): number => Math.min(limit, COUNT_ONLY);

/**
 * The hits of a window as a host counts them: at most `limit` if the hit passes, above it if it is denied. A denied hit takes nothing, so there
 * is one number for all of them. A host that only counts gets the exact number.
 * @param least 1 for a hit, 0 for a read
 */
export function hitsOf(
  { allowed, limit: whole, remaining, degraded }: Decision,
  limit: number,
  least = 1,
): number {
  if (!allowed) return limit + 1;
  if (limit < COUNT_ONLY) return Math.min(limit, Math.max(least, limit - remaining));
  // While the store is out, a process with a share of the limit counts each hit as several. An operator's override is no share.
  const weight = degraded ? COUNT_ONLY / whole : 1;
  return Math.max(least, Math.ceil((whole - remaining) * weight - ROUNDING));
}

/** ms until the window ends; of a denial, until a hit can pass. */
export function resetOf({ allowed, resetAfter, retryAfter, window }: Decision): number {
  if (allowed) return resetAfter;
  return Number.isFinite(retryAfter) ? retryAfter : window;
}

/** The same in whole seconds, never too early. */
export const seconds = (ms: number): number => Math.ceil(ms / 1000);

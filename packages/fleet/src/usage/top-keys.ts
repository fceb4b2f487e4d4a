import type { KeyCount, TopKeys } from '@sluice/core';
import { scoped } from './counted-key.js';
import type { Summary } from './summary.js';
import type { UsageSummary } from './usage-summary.js';

/** The keys of a list. Parameters: as of `topKeys` */
export function keyCounts(
  { entries }: Summary,
  shown: (key: string) => string = (key) => key,
  limiter?: string,
): KeyCount[] {
  const start = limiter === undefined ? '' : `${limiter} `;
  return entries
    .filter(({ key }) => key.startsWith(start))
    .map(({ key, count, error, policy }) => ({
      ...scoped(shown(key.slice(start.length))),
      ...(policy !== undefined && { policy }),
      count,
      error,
    }));
}

/**
 * @param shown converts a counted key
 * @param limiter in the counts of `(other)`: only this limiter's keys
 */
export function topKeys(
  { denied, shadowDenied, costly, span }: Pick<UsageSummary, 'denied' | 'shadowDenied' | 'costly' | 'span'>,
  shown?: (key: string) => string,
  limiter?: string,
): TopKeys {
  const list = (summary: Summary) => keyCounts(summary, shown, limiter);
  return {
    denied: list(denied),
    shadowDenied: list(shadowDenied),
    costly: list(costly),
    unlisted: {
      denied: denied.unlisted,
      shadowDenied: shadowDenied.unlisted,
      costly: costly.unlisted,
    },
    span,
  };
}

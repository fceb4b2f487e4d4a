import type { KeyCount, TopKeys } from '@sluice/core';
import { scoped } from './counted-key.js';
import type { Summary } from './summary.js';
import type { UsageSummary } from './usage-summary.js';

/**
 * @param shown converts a counted key
 * @param limiter in the counts of `(other)`: only this limiter's keys
 */
export function topKeys(
  { denied, shadowDenied, costly, span }: UsageSummary,
  shown: (key: string) => string = (key) => key,
  limiter?: string,
): TopKeys {
  const start = limiter === undefined ? '' : `${limiter} `;
  const list = ({ entries }: Summary): KeyCount[] =>
    entries
      .filter(({ key }) => key.startsWith(start))
      .map(({ key, count, error, policy }) => ({
        ...scoped(shown(key.slice(start.length))),
        ...(policy !== undefined && { policy }),
        count,
        error,
      }));
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

import { scoped } from './counted-key.js';
import type { Summary } from './summary.js';
import type { UsageSummary } from './usage-summary.js';

/** A key of a list. Its true count lies in `[count - error, count]`. */
export interface KeyCount {
  /** As it is stored, or its `hashKey`: at most 128 characters, and none that a terminal or a log line would interpret. */
  readonly key: string;
  /** Whose key it is: the member of a `CombinedLimiter`; in the limiter `(other)` the limiter, and then the member. */
  readonly scope?: string;
  readonly count: number;
  /** At most a 256th of all that was counted in the list. */
  readonly error: number;
}

/** The keys of a limiter that were denied most, and that took most; at most 256 each, the heaviest first. */
export interface TopKeys {
  /** By denied calls. */
  readonly denied: readonly KeyCount[];
  /** By calls in shadow mode, such as `dryRun`, that would have been denied. */
  readonly shadowDenied: readonly KeyCount[];
  /** By the permits that allowed calls took. A reservation counts its estimate, and refunds are not subtracted. */
  readonly costly: readonly KeyCount[];
  /** A key that is not in a list has at most this count there. */
  readonly unlisted: { readonly denied: number; readonly shadowDenied: number; readonly costly: number };
  /** How far back the counts go, ms: up to 15 minutes. */
  readonly span: number;
}

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
      .map(({ key, count, error }) => ({ ...scoped(shown(key.slice(start.length))), count, error }));
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

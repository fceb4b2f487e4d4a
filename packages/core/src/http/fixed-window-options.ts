import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { notePeriod } from '../algorithms/short-periods.js';
import type { Duration } from '../duration.js';
import type { MaybePromise } from '../maybe-promise.js';
import {
  CHOICE_OPTIONS,
  type OfRequest,
  type RequestLimitOptions,
  type WithKey,
} from './request-limit-options.js';

/** The names that a framework's own limiters have for the numbers of a fixed window. */
export interface FixedWindowNames {
  readonly limit: readonly string[];
  readonly window: string;
  /** The default window. */
  readonly standard: Duration;
}

/**
 * Reads a policy given in a framework's own option names: `{ limit: 100, windowMs: 60_000 }` becomes
 * `{ policy: fixedWindow({ limit: 100, window: 60_000 }) }`. If `limit` or `windowMs` is a function, `policy` becomes a function.
 * Functions get the request's key as their last argument.
 * @throws RangeError, TypeError naming the invalid option
 */
export function readFixedWindow<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
  names: FixedWindowNames,
): RequestLimitOptions<Args> {
  const { [names.window]: window, ...rest } = (options ?? {}) as Record<string, unknown>;
  const words = names.limit.filter((name) => rest[name] !== undefined);
  for (const word of names.limit) if (rest[word] === undefined) delete rest[word];
  if (words.length === 0 && window === undefined) return rest as RequestLimitOptions<Args>;
  const [name] = words;
  if (name === undefined || words.length > 1) {
    throw new TypeError(
      name === undefined
        ? `${where}: ${names.window} needs ${names.limit.join(' or ')}, the requests in a window`
        : `${where}: give one of ${words.join(', ')}, not several`,
    );
  }
  const limit = rest[name];
  const both = [...CHOICE_OPTIONS, 'limiter'].find((other) => rest[other] !== undefined);
  if (both !== undefined) throw new TypeError(`${where}: give ${name} or ${both}, not both`);
  for (const word of names.limit) delete rest[word];
  const policyOf = (requests: unknown, length: unknown) =>
    notePeriod(fixedWindow({ limit: requests as number, window: length as Duration }), names.window, length);
  const length = window ?? names.standard;
  const given = <T>(value: unknown, args: WithKey<Args>): MaybePromise<T> =>
    typeof value === 'function' ? (value as OfRequest<WithKey<Args>, T>)(...args) : (value as T);
  const policy =
    typeof limit === 'function' || typeof length === 'function'
      ? async (...args: WithKey<Args>) => policyOf(await given(limit, args), await given(length, args))
      : policyOf(limit, length);
  return { ...rest, policy } as RequestLimitOptions<Args>;
}

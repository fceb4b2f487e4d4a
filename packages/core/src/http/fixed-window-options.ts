import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import type { Duration } from '../duration.js';
import { CHOICE_OPTIONS, type OfRequest, type RequestLimitOptions } from './request-limit-options.js';

/** What a framework's own limiters call the numbers of a fixed window. */
export interface FixedWindowNames {
  readonly limit: readonly string[];
  readonly window: string;
  /** The window when only a limit is given. */
  readonly standard: Duration;
}

/**
 * Reads a policy that was given in a framework's own words: `{ limit: 100, windowMs: 60_000 }` is
 * `{ policy: fixedWindow({ limit: 100, window: 60_000 }) }`, and a function `limit` a function `policy`.
 * @throws RangeError, TypeError naming what is wrong
 */
export function readFixedWindow<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
  names: FixedWindowNames,
): RequestLimitOptions<Args> {
  const { [names.window]: window, ...rest } = (options ?? {}) as Record<string, unknown>;
  const given = names.limit.filter((name) => rest[name] !== undefined);
  for (const word of names.limit) if (rest[word] === undefined) delete rest[word];
  if (given.length === 0 && window === undefined) return rest as RequestLimitOptions<Args>;
  const [name] = given;
  if (name === undefined || given.length > 1) {
    throw new TypeError(
      name === undefined
        ? `${where}: ${names.window} needs ${names.limit.join(' or ')}, the requests in a window`
        : `${where}: give one of ${given.join(', ')}, not several`,
    );
  }
  const limit = rest[name];
  const both = [...CHOICE_OPTIONS, 'limiter'].find((other) => rest[other] !== undefined);
  if (both !== undefined) throw new TypeError(`${where}: give ${name} or ${both}, not both`);
  for (const word of names.limit) delete rest[word];
  const policyOf = (requests: unknown) =>
    fixedWindow({ limit: requests as number, window: (window ?? names.standard) as Duration });
  const policy =
    typeof limit === 'function'
      ? async (...args: Args) => policyOf(await (limit as OfRequest<Args, number>)(...args))
      : policyOf(limit);
  return { ...rest, policy } as RequestLimitOptions<Args>;
}

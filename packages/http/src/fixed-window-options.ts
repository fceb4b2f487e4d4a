import { type Duration, fixedWindow } from '@sluice/core';
import { notePeriod, onlyOne } from '@sluice/core/internal';
import { CHOICE_OPTIONS, type RequestLimitOptions, type WithKey } from './request-limit-options.js';

/** The option names of a framework's own limiter for a fixed window. */
export interface FixedWindowNames {
  readonly limit: readonly string[];
  readonly window: string;
  /** The window if the option is missing. */
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
  const { [names.window]: window, ...rest } = options as Record<string, unknown>;
  const name = onlyOne(where, rest, names.limit);
  if (name === undefined && window !== undefined) {
    throw new TypeError(
      `${where}: ${names.window} needs ${names.limit.join(' or ')}, the requests in a window`,
    );
  }
  if (name !== undefined) onlyOne(where, rest, [name, ...CHOICE_OPTIONS, 'limiter', 'rules']);
  const limit = name === undefined ? undefined : rest[name];
  for (const each of names.limit) delete rest[each];
  if (limit === undefined) return rest as RequestLimitOptions<Args>;
  const policyOf = (requests: unknown, length: unknown) =>
    notePeriod(fixedWindow({ limit: requests as number, window: length as Duration }), names.window, length);
  const length = window ?? names.standard;
  const resolved = (given: unknown, args: WithKey<Args>): unknown =>
    typeof given === 'function' ? given(...args) : given;
  const policy =
    typeof limit === 'function' || typeof length === 'function'
      ? async (...args: WithKey<Args>) => policyOf(await resolved(limit, args), await resolved(length, args))
      : policyOf(limit, length);
  return { ...rest, policy } as RequestLimitOptions<Args>;
}

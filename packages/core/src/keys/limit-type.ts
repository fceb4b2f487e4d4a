import { describe } from '../options.js';

/**
 * What a limit counts by.
 * - `IP`: one count per client address.
 * - `USER`: one count per signed-in user.
 * - `METHOD`: one count for all calls of the method (`ClassName.methodName`).
 * - `CUSTOM`: one count per value of a key expression such as `#{user.id}`.
 */
export const LimitType = { IP: 'IP', USER: 'USER', METHOD: 'METHOD', CUSTOM: 'CUSTOM' } as const;
export type LimitType = (typeof LimitType)[keyof typeof LimitType];

const accepted: readonly unknown[] = Object.values(LimitType);

/** Checks a limit type from configuration. @throws RangeError unless it is exactly `IP`, `USER`, `METHOD` or `CUSTOM` */
export function parseLimitType(value: unknown): LimitType {
  if (!accepted.includes(value)) {
    throw new RangeError(`limitType must be one of ${accepted.join(', ')}, not ${describe(value)}`);
  }
  return value as LimitType;
}

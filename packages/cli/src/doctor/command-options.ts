import { toMicros } from '@sluice/core/internal';
import type { CommandOption, Context } from '../command.js';
import { examine } from './examine.js';
import type { Finding } from './finding.js';

/** Options about the limiters, for commands that examine Redis. */
export const EXAMINATION_OPTIONS: readonly CommandOption[] = [
  {
    flags: '--limiter-deadline <duration>',
    description: 'the deadline of your limiters, for the round trips',
    default: '100ms',
  },
  { flags: '--prefix <keyPrefix>', description: 'the keyPrefix of your limiters', default: 'sluice' },
  {
    flags: '--acl-user <name>',
    description: 'the user whose rights are checked; default: the one that signs in',
  },
];

/**
 * The examination of the store, with its settings from the options of a command line.
 * @returns undefined if there are no checks for the store
 * @throws RangeError for a wrong duration
 */
export function examinationOf(
  {
    deadline: timeout,
    signal,
    redis,
    examine: ofDatabase,
  }: Pick<Context, 'deadline' | 'signal' | 'redis' | 'examine'>,
  { limiterDeadline, prefix, aclUser, scan }: Readonly<Record<string, string | boolean | undefined>>,
): (() => Promise<Finding[]>) | undefined {
  const deadline = toMicros('--limiter-deadline', String(limiterDeadline)) / 1_000;
  if (redis === undefined)
    return ofDatabase && (() => ofDatabase({ deadline, timeout, signal, scan: scan === true }));
  const settings = {
    deadline,
    prefix: `${redis.client.options.keyPrefix ?? ''}${prefix}`,
    ...(aclUser !== undefined && { user: String(aclUser) }),
    scan: scan === true,
    timeout,
    signal,
  };
  return () => examine(redis.server, settings);
}

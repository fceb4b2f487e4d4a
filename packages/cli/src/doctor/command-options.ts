import { toMicros } from '@sluice/core/internal';
import type { CommandOption, Context } from '../command.js';
import type { RedisConnection } from '../redis-connection.js';
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
 * The settings of an examination, from the options of a command line.
 * @throws RangeError for a wrong duration
 */
export function examinationOf(
  { deadline, signal }: Pick<Context, 'deadline' | 'signal'>,
  { client, server }: RedisConnection,
  { limiterDeadline, prefix, aclUser, scan }: Readonly<Record<string, string | boolean | undefined>>,
): () => Promise<Finding[]> {
  const settings = {
    deadline: toMicros('--limiter-deadline', String(limiterDeadline)) / 1_000,
    prefix: `${client.options.keyPrefix ?? ''}${prefix}`,
    ...(aclUser !== undefined && { user: String(aclUser) }),
    scan: scan === true,
    timeout: deadline,
    signal,
  };
  return () => examine(server, settings);
}

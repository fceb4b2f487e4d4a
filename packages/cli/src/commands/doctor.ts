import { toMicros } from '@sluice/core/operations';
import type { CommandDefinition } from '../command.js';
import { examine } from '../doctor/examine.js';
import { exitCodeOf } from '../doctor/finding.js';
import { render } from '../doctor/render.js';

export const doctor: CommandDefinition = {
  name: 'doctor',
  arguments: [],
  options: [
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
    { flags: '--scan', description: 'look at all keys, and not only at the first 20,000 or so' },
  ],
  summary: 'find what makes limits fail: settings, rights, clocks, replicas',
  description:
    'Looks at the Redis of your limiters, its replicas, its cluster or its sentinels. Each finding says what was seen, why it matters, ' +
    'and what mends it. Reads only. Exits with 1 if there are warnings, with 2 if there are errors.',
  example: ['doctor', 'warning eviction-policy\n    maxmemory-policy is allkeys-lru (127.0.0.1:6379)'],
  writes: false,
  offline: true, // it connects to each server by itself, and a server that is out is a finding
  async run({ server, deadline, output, client, signal }, _args, options) {
    const { limiterDeadline, prefix, aclUser, scan } = options;
    const findings = await examine(server, {
      deadline: toMicros('--limiter-deadline', String(limiterDeadline)) / 1_000,
      prefix: `${client.options.keyPrefix ?? ''}${prefix}`,
      ...(aclUser !== undefined && { user: String(aclUser) }),
      scan: scan === true,
      timeout: deadline,
      signal,
    });
    for (const finding of findings) output.json(finding);
    output.line(render(findings, output));
    return exitCodeOf(findings);
  },
};

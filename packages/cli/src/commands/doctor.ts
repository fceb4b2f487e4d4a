import { CliError } from '../cli-error.js';
import type { CommandDefinition } from '../command.js';
import { EXAMINATION_OPTIONS, examinationOf } from '../doctor/command-options.js';
import { exitCodeOf } from '../doctor/finding.js';
import { render } from '../doctor/render.js';

export const doctor: CommandDefinition = {
  name: 'doctor',
  arguments: [],
  options: [
    ...EXAMINATION_OPTIONS,
    {
      flags: '--scan',
      description: 'look at all keys, and not only at the first 20,000 or so; of a file, look for damage',
    },
  ],
  summary: 'find what makes limits fail',
  description:
    'Looks at the Redis of your limiters, its replicas, cluster or sentinels, or at their Postgres or file. Each finding says why it matters, ' +
    'and what mends it. Reads only. Exits with 1 if there are warnings, with 2 if there are errors.',
  example: ['doctor', 'warning eviction-policy\n    maxmemory-policy is allkeys-lru (127.0.0.1:6379)'],
  writes: false,
  offline: true, // it opens its own connections, and a server that is out is a finding
  async run(context, _args, options) {
    const { output, address } = context;
    const examine = examinationOf(context, options);
    if (examine === undefined)
      throw new CliError(
        `doctor has no checks for ${address}: it looks at Redis, Postgres and files of SQLite.`,
      );
    const findings = await examine();
    for (const finding of findings) output.json(finding);
    output.lines(render(findings, output));
    return exitCodeOf(findings);
  },
};

import { once } from 'node:events';
import { serveDashboard } from '@sluice/dashboard';
import type { CommandDefinition } from '../command.js';
import { EXAMINATION_OPTIONS, examinationOf } from '../doctor/command-options.js';
import { portOf } from '../port.js';

export const dashboard: CommandDefinition = {
  name: 'dashboard',
  arguments: [],
  options: [
    { flags: '--port <n>', description: 'the port on 127.0.0.1; 0 for a free one', default: '0' },
    {
      flags: '--write',
      description: '[writes] buttons that unblock, reset and override keys; each asks first',
    },
    ...EXAMINATION_OPTIONS,
  ],
  summary: 'the live page, on 127.0.0.1',
  description:
    'Serves the live page on 127.0.0.1 until Ctrl-C, and prints its address. The address has a token that works once, in one browser. ' +
    'The page only reads, unless you pass --write. Calls per second need processes with the option usage of their store.',
  example: ['dashboard', 'http://127.0.0.1:40123/…/?token=…'],
  writes: false,
  async run(context, _args, options) {
    const { store, output, signal } = context;
    const port = portOf('--port', options.port);
    const examine = examinationOf(context, options);
    const findings = examine && { findings: examine };
    const served = await serveDashboard(store, { port, write: options.write === true, ...findings });
    try {
      output.json({ url: served.url });
      output.lines([
        'The live page, until Ctrl-C. Open this address, which works once:',
        '',
        `  ${served.url}`,
        '',
      ]);
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      await served.close();
    }
    return 0;
  },
};

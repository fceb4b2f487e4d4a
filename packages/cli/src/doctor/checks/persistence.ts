import { nodeCheck } from '../check.js';

/** Checks which data a restart loses, and whether saving works. */
export const persistence = nodeCheck({
  about: 'persistence',
  why: {
    'append-only-off':
      'A restart forgets what was counted since the last snapshot, also blocks, overrides and shared rates. For limits of seconds and minutes that is fine.',
    'append-only-slow': 'Every decision waits for the disk.',
    'saving-failed':
      'With stop-writes-on-bgsave-error the server refuses writes (MISCONF): the failurePolicy decides.',
  },
  async look(node, report) {
    const { info } = node;
    const failed = ['rdb_last_bgsave_status', 'aof_last_write_status', 'aof_last_bgrewrite_status'].filter(
      (name) => info.optional(name) === 'err',
    );
    if (failed.length > 0)
      report.error(
        'saving-failed',
        `Saving to disk has failed: ${failed.join(', ')}`,
        "Look at the server's log and the space on its disk; then BGSAVE.",
      );
    const appends = info.number('aof_enabled');
    if (appends === undefined) return;
    if (appends === 0) {
      report.note(
        'append-only-off',
        'There is no append-only file',
        'For limits of hours and days: CONFIG SET appendonly yes, with appendfsync everysec.',
      );
      return;
    }
    const flushes = await node.config('appendfsync');
    if (flushes === 'always')
      report.warning('append-only-slow', 'appendfsync is always', 'CONFIG SET appendfsync everysec');
    else report.ok(`append-only file${flushes === undefined ? '' : `, appendfsync ${flushes}`}`);
  },
});

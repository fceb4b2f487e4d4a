import { count } from '../../words.js';
import { nodeCheck } from '../check.js';

/** Checks the settings that bound the loss of data in a failover. */
export const minReplicas = nodeCheck({
  about: 'min-replicas',
  why: {
    'min-replicas-off':
      'After a network split both sides accept writes, and each admits its limit, until the old primary steps down.',
    'min-replicas-unmet': 'The server refuses every write (NOREPLICAS): the failurePolicy decides.',
    'min-replicas-slow':
      'A split that is shorter than min-replicas-max-lag goes unnoticed: each side admits its limit.',
  },
  of: 'primaries',
  async look(node, report) {
    const { info } = node;
    if (!info.known) return;
    // INFO has this field only if min-replicas-to-write is set.
    const good = info.optionalNumber('min_slaves_good_slaves');
    if (good === undefined) {
      if ((info.number('connected_slaves') ?? 0) > 0)
        report.note(
          'min-replicas-off',
          'min-replicas-to-write is 0, and there are replicas',
          'CONFIG SET min-replicas-to-write 1, and CONFIG SET min-replicas-max-lag 10',
        );
      return;
    }
    const wanted = Number((await node.config('min-replicas-to-write')) ?? 1);
    const lag = Number((await node.config('min-replicas-max-lag')) ?? 0);
    const what = `min-replicas-to-write is ${wanted}, and ${count(good, 'is', 'are')} connected`;
    if (good < wanted)
      report.error('min-replicas-unmet', what, 'Start a replica, or CONFIG SET min-replicas-to-write 0.');
    else if (lag === 0 || lag > 60)
      report.note(
        'min-replicas-slow',
        `min-replicas-max-lag is ${lag}`,
        'CONFIG SET min-replicas-max-lag 10',
      );
    else report.ok(what);
  },
});

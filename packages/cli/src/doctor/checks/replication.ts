import { count } from '../../words.js';
import { nodeCheck } from '../check.js';
import { replicaStatesOf } from '../discover/replicas.js';
import { nameOf } from '../node.js';

const LAG_BYTES = 1_000_000;
const LAG_SECONDS = 5;

/** Checks the replicas and their lag. */
export const replication = nodeCheck({
  about: 'replication',
  why: {
    'no-replica': 'While this server is out, the failurePolicy decides for all its keys.',
    'replica-not-ready': 'It cannot take over yet: its primary is still sending it the data.',
    'replica-lag': 'A failover admits again what the replica had not received.',
    'replica-disconnected':
      'It does not follow its primary. A failover to it would lose what was counted meanwhile.',
  },
  look(node, report) {
    const { info, isReplica } = node;
    if (isReplica) {
      if (info.optional('master_link_status') === 'down')
        report.error(
          'replica-disconnected',
          `This replica has no connection to its primary ${info.optional('master_host')}:${info.optional('master_port')}`,
          'Check the network between them, and masteruser and masterauth of the replica.',
        );
      return;
    }
    if (info.text('role') === undefined) return;
    const offset = info.optionalNumber('master_repl_offset') ?? 0;
    const replicas = replicaStatesOf(node);
    for (const replica of replicas) {
      const name = nameOf(replica);
      const behind = offset - replica.offset;
      if (replica.state !== 'online')
        report.warning(
          'replica-not-ready',
          `The replica ${name} is in state ${replica.state}`,
          'Wait until it is online.',
        );
      else if (behind > LAG_BYTES || replica.lag > LAG_SECONDS)
        report.warning(
          'replica-lag',
          `The replica ${name} is ${count(behind, 'byte')} behind, and was last heard ${replica.lag} s ago`,
          'Look at its machine and at the network; min-replicas-max-lag bounds what a failover forgets.',
        );
    }
    if (replicas.length === 0)
      report.note(
        'no-replica',
        'This primary has no replica',
        'Start another server with replicaof, or run a cluster.',
      );
    else report.ok(count(replicas.length, 'replica'));
  },
});

import { nodeCheck } from '../check.js';
import { Info } from '../info.js';
import { type DoctorNode, NoAnswerError } from '../node.js';
import { messageOf } from '../refusal.js';

/** Checks that the connection options fit the server. */
export const topology = nodeCheck({
  about: 'topology',
  why: {
    'primary-is-replica': 'A replica refuses writes (READONLY): the failurePolicy decides every call.',
    'cluster-by-address':
      'An address reaches the keys of one node only: calls for other keys reject with StoreConfigurationError.',
    'not-a-cluster':
      'A Cluster client finds no nodes: no call is decided. Endpoints with cluster mode disabled are such servers.',
    'servers-behind-address':
      'Each connection counts at another server: together they admit the limit several times.',
  },
  async look(node, report, _settings, { kind, nodes }) {
    const { info, name } = node;
    const inCluster = info.optional('cluster_enabled') === '1';
    if (kind === 'cluster') {
      if (info.known && !inCluster)
        report.error(
          'not-a-cluster',
          `${name} is not part of a cluster`,
          'Connect with --redis, or redisStore(url).',
        );
      return;
    }
    if (node.expected === 'replica') return;
    if (inCluster && (await knownNodes(node)) > 1)
      report.error(
        'cluster-by-address',
        `${name} is a node of a cluster`,
        'Connect with --cluster, or redisStore({ cluster }).',
      );
    if (node.isReplica)
      report.error(
        'primary-is-replica',
        `${name} is a replica of ${info.optional('master_host')}:${info.optional('master_port')}`,
        'Connect to the primary, or through Sentinels.',
      );
    if (node !== nodes[0] || !info.known) return;
    const second = await node.again().open();
    const ids = [info, second.info].map((one) => one.optional('run_id') ?? '');
    second.close();
    if (second.failure !== undefined) throw new NoAnswerError(messageOf(second.failure));
    if (ids[0] !== ids[1])
      report.error(
        'servers-behind-address',
        `Two connections to ${name} reached two servers`,
        'Connect to one primary. A balancer must not choose a server for each connection.',
      );
  },
});

/** A node that refuses the command counts as one of several. */
async function knownNodes(node: DoctorNode): Promise<number> {
  const text = await node.ask('the nodes of the cluster', 'CLUSTER', 'INFO');
  return new Info(text).optionalNumber('cluster_known_nodes') ?? 2;
}

import { count } from '../../words.js';
import { deploymentCheck, type Report } from '../check.js';
import { type ClusterMember, membersKnownTo } from '../discover/cluster.js';
import { Info } from '../info.js';
import { type DoctorNode, nameOf } from '../node.js';

const SLOTS = 16_384;
const CHECK = 'redis-cli --cluster check host:port shows what is missing; --cluster fix mends it.';

const why = {
  'cluster-down': 'The node refuses calls (CLUSTERDOWN): the failurePolicy decides.',
  'slots-uncovered': 'No node serves keys of these slots: the failurePolicy decides for them.',
  'slots-moving': 'Calls follow a slot that moves. Calls with keys on both sides fail until it has moved.',
  'nodes-disagree': 'Clients learn different maps of the slots, and calls are redirected.',
  'node-failed': 'Other nodes do not reach it. Its slots are out until a replica takes over.',
  'shard-without-replica': 'When this node is lost, the failurePolicy decides for its keys until it is back.',
  'one-loss-stops-all': 'When one shard is lost, the others refuse calls as well.',
};

/** Checks the state of a cluster as reported by each node. */
export const slots = deploymentCheck({
  about: 'cluster',
  why,
  async compare({ kind, nodes }, report) {
    const inCluster = nodes.filter(
      ({ failure, info }) => !failure && info.optional('cluster_enabled') !== '0',
    );
    if (kind !== 'cluster' || inCluster.length === 0) return;
    const views = await Promise.all(inCluster.map(viewOf));
    const down = views.filter(({ state }) => state === 'fail');
    for (const { node } of down)
      report.error('cluster-down', `${node.name} says that the cluster is down`, CHECK);
    const members = views.flatMap((view) => (view.members === undefined ? [] : [view.members]));
    if (members[0] === undefined) return; // the refusal of CLUSTER NODES is reported
    const uncovered = uncoveredBy(members[0]);
    if (uncovered.length > 0)
      report.error(
        'slots-uncovered',
        `No node serves the slots ${uncovered.map(rangeText).join(', ')}`,
        CHECK,
      );
    if (new Set(members.map(mapOf)).size > 1)
      report.warning('nodes-disagree', 'Nodes disagree on which node serves which slots', CHECK);
    reportMembers(members[0], report);
    if (uncovered.length > 0 || down.length > 0) return;
    if (views.some(({ coverage }) => coverage === 'yes'))
      report.note(
        'one-loss-stops-all',
        'cluster-require-full-coverage is yes',
        'CONFIG SET cluster-require-full-coverage no, on each node',
      );
    report.ok(
      `all slots are served, by ${count(members[0].filter((member) => member.slots.length > 0).length, 'node')}`,
    );
  },
});

interface View {
  readonly node: DoctorNode;
  readonly state: string | undefined;
  readonly members: ClusterMember[] | undefined;
  readonly coverage: string | undefined;
}

async function viewOf(node: DoctorNode): Promise<View> {
  const text = await node.ask('the state of the cluster', 'CLUSTER', 'INFO');
  return {
    node,
    state: new Info(text).optional('cluster_state'),
    members: await membersKnownTo(node),
    coverage: await node.config('cluster-require-full-coverage'),
  };
}

function reportMembers(members: readonly ClusterMember[], report: Report<keyof typeof why>): void {
  const moving = members.flatMap((member) => member.moving);
  if (moving.length > 0)
    report.note(
      'slots-moving',
      `Slots are marked as moving: ${moving.join(' ')}`,
      'Wait for the end of the resharding. If none is running: CLUSTER SETSLOT slot STABLE.',
    );
  for (const member of members) {
    const name = nameOf(member);
    if (member.flags.includes('fail') || member.flags.includes('fail?'))
      report.error(
        'node-failed',
        `${name} is marked as ${member.flags.includes('fail') ? 'failed' : 'failing'}`,
        CHECK,
      );
    const hasReplica = members.some(({ primary }) => primary === member.id);
    if (member.slots.length > 0 && !hasReplica)
      report.note(
        'shard-without-replica',
        `${name} has no replica`,
        'redis-cli --cluster add-node … --cluster-slave',
      );
  }
}

/** The slots of each node, as text. */
const mapOf = (members: readonly ClusterMember[]): string =>
  members
    .flatMap(({ id, slots: ranges }) => ranges.map(([first, last]) => `${first}-${last} ${id}`))
    .sort()
    .join();

/** Slot ranges without a reachable node. */
function uncoveredBy(members: readonly ClusterMember[]): (readonly [number, number])[] {
  const served = members
    .filter(({ flags }) => !flags.includes('fail'))
    .flatMap((member) => member.slots)
    .sort((a, b) => a[0] - b[0]);
  const gaps: (readonly [number, number])[] = [];
  let next = 0;
  for (const [first, last] of [...served, [SLOTS, SLOTS] as const]) {
    if (first > next) gaps.push([next, first - 1]);
    next = Math.max(next, last + 1);
  }
  return gaps;
}

const rangeText = ([first, last]: readonly [number, number]): string =>
  first === last ? String(first) : `${first}-${last}`;

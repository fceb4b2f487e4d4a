import { type DoctorNode, type NodeAddress, nameOf, type Open, type Reply } from '../node.js';

/** Connects to the nodes of a cluster: those that the first answering node lists, and the given ones. */
export async function openCluster(seeds: readonly NodeAddress[], open: Open): Promise<DoctorNode[]> {
  const opened = await Promise.all(seeds.map((address) => open(address)));
  const seed = opened.find(({ failure }) => failure === undefined);
  const known = seed === undefined ? [] : await nodesKnownTo(seed);
  const names = new Set(opened.map(({ name }) => name));
  const others = known.filter((address) => !names.has(nameOf(address)));
  const more = await Promise.all(others.map((address) => open(address, address.expected)));
  // A natMap can map two addresses to one server.
  return [...opened, ...more.filter(({ name }) => !names.has(name))];
}

/** A line of `CLUSTER NODES`. */
export interface ClusterMember extends NodeAddress {
  readonly id: string;
  readonly flags: readonly string[];
  /** Id of the primary; `-` of a primary. */
  readonly primary: string;
  /** First and last slot of each range. */
  readonly slots: readonly (readonly [first: number, last: number])[];
  /** Slots that are moving to or from this node. */
  readonly moving: readonly string[];
}

/** `<id> <ip:port@bus[,hostname]> <flags> <primary> … <link> <slot> <first-last> [slot->-id]` */
export function membersIn(text: string): ClusterMember[] {
  const lines = text.trim().split('\n');
  return lines.filter(Boolean).map((line) => {
    const [id = '', place = '', flags = '', primary = '-', , , , , ...slots] = line.trim().split(' ');
    const [endpoint = '', hostname = ''] = place.split(',');
    const [, ip = '', port] = /^(.*):(\d+)(?:@\d+)?$/.exec(endpoint) ?? [];
    const ranges = slots.filter((slot) => !slot.startsWith('['));
    return {
      id,
      host: hostname.includes('=') || hostname === '' ? ip : hostname,
      port: Number(port),
      flags: flags.split(','),
      primary,
      slots: ranges.map((range) => {
        const [first, last = first] = range.split('-').map(Number);
        return [first!, last!] as const;
      }),
      moving: slots.filter((slot) => slot.startsWith('[')),
    };
  });
}

/** The report of one node on all nodes; undefined if it refuses. */
export async function membersKnownTo(node: DoctorNode): Promise<ClusterMember[] | undefined> {
  const text = await node.ask('the nodes of the cluster', 'CLUSTER', 'NODES');
  return typeof text === 'string' ? membersIn(text) : undefined;
}

type KnownNode = NodeAddress & { readonly expected?: 'replica' };

async function nodesKnownTo(seed: DoctorNode): Promise<KnownNode[]> {
  // Not a node of a cluster: the checks report it.
  if (seed.info.optional('cluster_enabled') === '0') return [];
  const members = await membersKnownTo(seed);
  const usable = members?.filter(({ flags }) => !flags.includes('noaddr') && !flags.includes('myself'));
  const known =
    usable?.map(
      ({ host, port, primary }): KnownNode =>
        primary === '-' ? { host, port } : { host, port, expected: 'replica' },
    ) ?? (await nodesOfSlots(seed));
  return known.filter(({ host, port }) => host !== '' && port > 0);
}

/** A user with minimal rights can run only `CLUSTER SLOTS`. */
async function nodesOfSlots(seed: DoctorNode): Promise<KnownNode[]> {
  const reply = await seed.ask('the slots of the cluster', 'CLUSTER', 'SLOTS');
  if (!Array.isArray(reply)) return [];
  const nodes = (reply as Reply[][]).flatMap(([, , ...servers]) => servers as [string, number][]);
  const found = new Map(nodes.map(([host, port]) => [`${host}:${port}`, { host, port }]));
  return [...found.values()].filter(({ host }) => Boolean(host));
}

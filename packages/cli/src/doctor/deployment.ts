import { openCluster } from './discover/cluster.js';
import { replicasOf } from './discover/replicas.js';
import { openSentinels, type Sentinels } from './discover/sentinels.js';
import { addressIn, credentialsOf, databaseOf } from './discover/server.js';
import { DoctorNode, type NodeAddress, type Open } from './node.js';
import type { Connection, Timing } from './settings.js';

export interface Deployment {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  /** All servers, including servers that do not answer. The first is the server of the address. */
  readonly nodes: readonly DoctorNode[];
  readonly sentinels?: Sentinels;
  /** Number of the limiters' database. */
  readonly database: number;
  /** The user that signs in. */
  readonly user: string;
}

/** Connects to every server of the deployment. An error of a server does not throw. */
export async function openDeployment(connection: Connection, timing: Timing): Promise<Deployment> {
  const credentials = credentialsOf(connection);
  const database = databaseOf(connection);
  const open: Open = (address, expected) =>
    new DoctorNode(mapped(address, connection), credentials, timing, expected).open(database);
  const common = { database, user: credentials.username ?? 'default' };
  if ('cluster' in connection)
    return { kind: 'cluster', nodes: await openCluster(connection.cluster.map(addressIn), open), ...common };
  if ('sentinels' in connection) {
    const sentinels = await openSentinels(connection, credentials, timing);
    const nodes = await Promise.all(sentinels.primaries.map((address) => open(address)));
    return { kind: 'sentinel', nodes: await withReplicas(nodes, open), sentinels, ...common };
  }
  const node = await open(addressIn(connection.url));
  // A node of a cluster is only reported: the cluster is not examined through one address.
  return { kind: 'single', nodes: await withReplicas([node], open), ...common };
}

async function withReplicas(primaries: readonly DoctorNode[], open: Open): Promise<DoctorNode[]> {
  const replicas = await Promise.all(
    primaries.flatMap(replicasOf).map((address) => open(address, 'replica')),
  );
  return [...primaries, ...replicas];
}

/** Maps an address by `natMap` of ioredis. */
function mapped(address: NodeAddress, { options = {} }: Connection): NodeAddress {
  const { natMap } = options as { natMap?: unknown };
  const key = `${address.host}:${address.port}`;
  if (typeof natMap === 'function') return (natMap as (key: string) => NodeAddress | null)(key) ?? address;
  return (natMap as Record<string, NodeAddress> | undefined)?.[key] ?? address;
}

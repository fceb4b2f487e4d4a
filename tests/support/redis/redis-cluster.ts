import { run } from '../run.ts';
import { freePort } from './free-port.ts';
import { localRedisBinary } from './redis-binary.ts';
import { type RedisServer, startRedis } from './redis-server.ts';
import { testClient } from './test-client.ts';

export interface ClusterNode extends RedisServer {
  /** The node's id in the cluster. */
  readonly id: string;
  /** Sends one command to this node alone; a redirection is an error. Returns strings, numbers and arrays. */
  ask(command: string, ...args: readonly (string | number)[]): Promise<unknown>;
}

export interface RedisCluster {
  /** The masters at the start; each has an equal share of the slots, in this order. */
  readonly nodes: readonly ClusterNode[];
  /** Their replicas at the start, in the same order. Empty without the option `replicas`. */
  readonly replicas: readonly ClusterNode[];
  /** For `new Cluster(…)`. */
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  /** Resolves when all nodes know each other and serve all slots, and replicas have all data. */
  whole(): Promise<void>;
  stop(): Promise<void>;
}

const SLOTS = 16_384;
const READY_MS = 20_000;
const ATTEMPTS = 3;

/** For tests without an outage: no node is taken for dead because a busy machine kept it from running for two seconds. */
export const NO_OUTAGE = ['--cluster-node-timeout', '60000'] as const;

export interface ClusterOptions {
  /** Default 3. */
  readonly masters?: number;
  /** Whether each master has one. Default false. */
  readonly replicas?: boolean;
  /** More of redis-server's arguments, for each node. */
  readonly args?: readonly string[];
}

/**
 * Starts the caller's own Redis Cluster on free ports of 127.0.0.1 in about two seconds, without persistence, in temporary folders.
 * Slots of a killed node without a replica are out; the other slots stay in service.
 */
export async function startRedisCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicas = false, args = [] } = options;
  const known = await knownServer();
  const count = replicas ? 2 * masters : masters;
  const started = await Promise.allSettled(Array.from({ length: count }, () => startNode(known, args)));
  const all = started.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const stop = async () => {
    await Promise.all(all.map((node) => node.stop()));
  };
  try {
    for (const start of started) if (start.status === 'rejected') throw start.reason;
    const nodes = all.slice(0, masters);
    await join(all, masters);
    return {
      nodes,
      replicas: all.slice(masters),
      addresses: all.map(({ port }) => ({ host: '127.0.0.1', port })),
      whole: () => whole(all),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @throws Error when the nodes could not reach each other */
async function knownServer(): Promise<{ busPort: boolean }> {
  const { command, env } = await localRedisBinary('A Redis Cluster of the tests');
  const { output } = await run(command, ['--version'], { env });
  const major = /\bv=(\d+)/.exec(output)?.[1];
  return { busPort: Number(major) >= 7 };
}

type Node = ClusterNode & { readonly busPort: number };

/** Another process may take the bus port before Redis binds it. */
async function startNode(known: { busPort: boolean }, more: readonly string[]): Promise<Node> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startNodeOn(known.busPort ? await freePort() : undefined, more);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** @param busPort ignored before Redis 7, whose nodes use the port + 10000: if that is taken, startRedis tries another port */
async function startNodeOn(busPort: number | undefined, more: readonly string[]): Promise<Node> {
  const server = await startRedis({
    args: [
      ...[
        '--cluster-enabled',
        'yes',
        '--cluster-node-timeout',
        '2000',
        '--cluster-require-full-coverage',
        'no',
      ],
      ...['--cluster-announce-ip', '127.0.0.1', ...(busPort ? ['--cluster-port', String(busPort)] : [])],
      ...more,
    ],
  });
  const client = testClient(server.url, {
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
    lazyConnect: true,
  });
  const ask = (command: string, ...args: readonly (string | number)[]) => client.call(command, ...args);
  const id = String(await ask('CLUSTER', 'MYID'));
  const own = {
    id,
    ask,
    busPort: busPort ?? server.port + 10_000,
    async stop() {
      client.disconnect();
      await server.stop();
    },
  };
  // The server's own getters stay: its pid changes.
  return Object.assign(Object.create(server) as RedisServer, own);
}

/** The first `masters` of the nodes share the slots; each of the others replicates one of them. */
async function join(nodes: readonly Node[], masters: number): Promise<void> {
  const share = Math.ceil(SLOTS / masters);
  await Promise.all(
    nodes.slice(0, masters).map(async ({ ask }, i) => {
      const first = i * share;
      const own = Array.from({ length: Math.min(share, SLOTS - first) }, (_, slot) => first + slot);
      await ask('CLUSTER', 'ADDSLOTS', ...own); // Redis 6 knows no ADDSLOTSRANGE
      await ask('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    }),
  );
  for (const { ask } of nodes) {
    for (const { port, busPort } of nodes) await ask('CLUSTER', 'MEET', '127.0.0.1', port, busPort);
  }
  await whole(nodes);
  const replicas = nodes.slice(masters);
  if (replicas.length === 0) return;
  await Promise.all(replicas.map(({ ask }, i) => ask('CLUSTER', 'REPLICATE', nodes[i]!.id)));
  await whole(nodes);
}

async function whole(nodes: readonly Node[]): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    const known = await Promise.all(nodes.map((node) => knowsAll(node, nodes.length)));
    const waiting = nodes.filter((_, i) => !known[i]).map(({ port }) => port);
    if (waiting.length === 0) return;
    if (Date.now() > deadline)
      throw new Error(`The nodes on ports ${waiting.join(', ')} do not know the whole Redis Cluster`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function knowsAll({ ask }: Node, count: number): Promise<boolean> {
  const info = String(await ask('CLUSTER', 'INFO'));
  const others = String(await ask('CLUSTER', 'NODES'))
    .trim()
    .split('\n');
  const replication = String(await ask('INFO', 'replication'));
  const linked = others.filter((line) => / connected\b/.test(line) && !/handshake|fail/.test(line));
  return (
    /cluster_state:ok/.test(info) &&
    /cluster_slots_ok:16384/.test(info) &&
    !/master_link_status:down/.test(replication) &&
    linked.length === count &&
    others.length === count
  );
}

import { run } from '../run.ts';
import { freePort } from './free-port.ts';
import { redisBinary } from './redis-binary.ts';
import { type RedisServer, startRedis } from './redis-server.ts';
import { testClient } from './test-client.ts';

export interface ClusterNode extends RedisServer {
  /** How the cluster calls it. */
  readonly id: string;
  /** Sends one command to this node alone, whose redirections are errors. Strings, numbers and arrays come back. */
  ask(command: string, ...args: readonly (string | number)[]): Promise<unknown>;
}

export interface RedisCluster {
  /** Masters without replicas; each has a like share of the slots, in this order. */
  readonly nodes: readonly ClusterNode[];
  /** For `new Cluster(…)`. */
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  /** Resolves when all nodes are there, know one another and serve all slots: after one was away. */
  whole(): Promise<void>;
  stop(): Promise<void>;
}

const SLOTS = 16_384;
const READY_MS = 20_000;

/**
 * Starts a Redis Cluster of the caller's own on free ports of 127.0.0.1: no persistence, temporary folders, about two seconds.
 * Slots of a node that is killed are out; the others are served on.
 */
export async function startRedisCluster(masters = 3): Promise<RedisCluster> {
  const known = await knownServer();
  const started = await Promise.allSettled(Array.from({ length: masters }, () => startNode(known)));
  const nodes = started.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    for (const start of started) if (start.status === 'rejected') throw start.reason;
    await join(nodes);
    return {
      nodes,
      addresses: nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
      whole: () => whole(nodes),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @throws Error when the nodes could not reach one another */
async function knownServer(): Promise<{ busPort: boolean }> {
  const { command, env, image } = await redisBinary();
  if (image !== undefined) {
    throw new Error(
      'A Redis Cluster of the tests needs redis-server or valkey-server on this machine: Docker will not do',
    );
  }
  const { output } = await run(command, ['--version'], { env });
  const major = /\bv=(\d+)/.exec(output)?.[1];
  return { busPort: Number(major) >= 7 };
}

type Node = ClusterNode & { readonly busPort: number };

async function startNode({ busPort: known }: { busPort: boolean }): Promise<Node> {
  // Before Redis 7 the nodes talk on the port + 10000, free or not: then startRedis tries another.
  const busPort = known ? await freePort() : undefined;
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

async function join(nodes: readonly Node[]): Promise<void> {
  const share = Math.ceil(SLOTS / nodes.length);
  await Promise.all(
    nodes.map(async ({ ask }, i) => {
      await ask('CLUSTER', 'ADDSLOTSRANGE', i * share, Math.min((i + 1) * share, SLOTS) - 1);
      await ask('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    }),
  );
  for (const { ask } of nodes) {
    for (const { port, busPort } of nodes) await ask('CLUSTER', 'MEET', '127.0.0.1', port, busPort);
  }
  await whole(nodes);
}

async function whole(nodes: readonly Node[]): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (!(await Promise.all(nodes.map((node) => knowsAll(node, nodes.length)))).every(Boolean)) {
    if (Date.now() > deadline) throw new Error('The nodes of a Redis Cluster did not find one another');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function knowsAll({ ask }: Node, count: number): Promise<boolean> {
  const info = String(await ask('CLUSTER', 'INFO'));
  const others = String(await ask('CLUSTER', 'NODES'))
    .trim()
    .split('\n');
  const linked = others.filter((line) => line.includes(' connected ') && !/handshake|fail/.test(line));
  return (
    /cluster_state:ok/.test(info) &&
    /cluster_slots_ok:16384/.test(info) &&
    linked.length === count &&
    others.length === count
  );
}

import { errorMonitor } from 'node:events';
import { NodeRedisAdapter } from './node-redis.js';
import type { RedisClient } from './redis-client.js';
import { slotOf } from './redis-slot.js';

/** What a client of a cluster shows of its nodes. */
interface ClusterView {
  /** `host:port` of the node that serves a slot; empty when that is not known. */
  nodeAt(slot: number): string;
  /** The connection to it. */
  connectionAt(slot: number): RedisClient | undefined;
}

/**
 * What is known of a client by listening to it, and only that: an error that nobody else listens to stays the error that nobody
 * listens to. Node by node, where it is one of a cluster.
 */
export class RedisWatch {
  readonly #cluster: ClusterView | undefined;
  readonly #prefix: string;
  /** By node; that of the client as a whole under no name. */
  readonly #errors = new Map<string, Error>();
  #lastKey: string | undefined;
  #lastSlot = 0;

  constructor(client: RedisClient) {
    this.#prefix = client.options?.keyPrefix ?? '';
    this.#follow(client, '');
    if (client instanceof NodeRedisAdapter && client.isCluster) {
      this.#cluster = client;
      client.on('node-error', (error, node) => this.#errors.set(nameOf(node as Address), error as Error));
      client.on('node-ready', (node) => this.#errors.delete(nameOf(node as Address)));
    } else if (isIoredisCluster(client)) {
      this.#cluster = new IoredisNodes(client, (node, name) => this.#follow(node, name));
    }
  }

  /** The node that serves a key, `host:port`; empty where there is one server only, and where the client does not know yet. */
  nodeOf(key: string): string {
    return this.#cluster === undefined ? '' : this.#cluster.nodeAt(this.#slotOf(key));
  }

  /** The connection on which calls for a key leave, if it is not that of the client itself. */
  connectionFor(key: string): RedisClient | undefined {
    return this.#cluster?.connectionAt(this.#slotOf(key));
  }

  /** What is wrong with the connection to a node, or to whatever server there is. */
  error(node = ''): Error | undefined {
    return this.#errors.get(node) ?? this.#errors.get('');
  }

  /** A call asks for the slot of its key twice. */
  #slotOf(key: string): number {
    if (key !== this.#lastKey) {
      this.#lastSlot = slotOf(this.#prefix + key);
      this.#lastKey = key;
    }
    return this.#lastSlot;
  }

  #follow(client: RedisClient, name: string): void {
    client.on?.(errorMonitor, (error) => this.#errors.set(name, error as Error));
    client.on?.('ready', () => this.#errors.delete(name));
  }
}

const watches = new WeakMap<RedisClient, RedisWatch>();

/** One for each client, however many stores use it: its listeners do not grow in number. */
export function watchOf(client: RedisClient): RedisWatch {
  let watch = watches.get(client);
  if (watch === undefined) {
    watch = new RedisWatch(client);
    watches.set(client, watch);
  }
  return watch;
}

/** A `Cluster` of ioredis or iovalkey. */
interface IoredisCluster extends RedisClient {
  readonly slots: readonly (readonly string[] | undefined)[];
  nodes(): readonly RedisClient[];
}

function isIoredisCluster(client: RedisClient): client is IoredisCluster {
  const { slots, nodes } = client as Partial<IoredisCluster>;
  return client.isCluster === true && Array.isArray(slots) && typeof nodes === 'function';
}

class IoredisNodes implements ClusterView {
  readonly #client: IoredisCluster;
  readonly #connections = new Map<string, RedisClient>();

  constructor(client: IoredisCluster, follow: (node: RedisClient, name: string) => void) {
    this.#client = client;
    const add = (told: unknown) => {
      const node = told as RedisClient;
      const name = nameOf(node.options);
      this.#connections.set(name, node);
      follow(node, name);
    };
    for (const node of client.nodes()) add(node);
    client.on?.('+node', add);
    client.on?.('-node', (node) => {
      const name = nameOf((node as RedisClient).options);
      if (this.#connections.get(name) === node) this.#connections.delete(name); // else it was replaced
    });
  }

  nodeAt(slot: number): string {
    return this.#client.slots[slot]?.[0] ?? '';
  }

  connectionAt(slot: number): RedisClient | undefined {
    return this.#connections.get(this.nodeAt(slot));
  }
}

interface Address {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/** As clients name nodes. */
const nameOf = ({ host = '127.0.0.1', port = 6379 }: Address = {}): string => `${host}:${port}`;

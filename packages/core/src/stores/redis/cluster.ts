import type { Listeners, RedisClient } from './client.js';

/** What a client of a cluster shows of its nodes. */
export interface ClusterView {
  /** `host:port` of the node that serves a slot; empty when that is not known. */
  nodeAt(slot: number): string;
  /** The connection to it. */
  connectionAt(slot: number): RedisClient | undefined;
}

export interface Address {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/** As clients name nodes. */
export const nameOf = ({ host = '127.0.0.1', port = 6379 }: Address = {}): string => `${host}:${port}`;

/** A `Cluster` of ioredis or iovalkey. */
interface IoredisCluster extends RedisClient {
  readonly slots: readonly (readonly string[] | undefined)[];
  nodes(): readonly RedisClient[];
}

export function isIoredisCluster(client: RedisClient): client is IoredisCluster {
  const { slots, nodes } = client as Partial<IoredisCluster>;
  return client.isCluster === true && Array.isArray(slots) && typeof nodes === 'function';
}

/** The nodes of a cluster client, followed as it adds and removes them. */
export class IoredisNodes implements ClusterView {
  readonly #client: IoredisCluster;
  readonly #connections = new Map<string, RedisClient>();

  constructor(
    client: IoredisCluster,
    listeners: Listeners,
    follow: (node: RedisClient, name: string) => void,
  ) {
    this.#client = client;
    const add = (told: unknown) => {
      const node = told as RedisClient;
      const name = nameOf(node.options);
      this.#connections.set(name, node);
      follow(node, name);
    };
    for (const node of client.nodes()) add(node);
    listeners.add(client, '+node', add);
    listeners.add(client, '-node', (told) => {
      const node = told as RedisClient;
      const name = nameOf(node.options);
      listeners.remove(node);
      if (this.#connections.get(name) === node) this.#connections.delete(name); // otherwise it was replaced
    });
  }

  nodeAt(slot: number): string {
    return this.#client.slots[slot]?.[0] ?? '';
  }

  connectionAt(slot: number): RedisClient | undefined {
    return this.#connections.get(this.nodeAt(slot));
  }
}

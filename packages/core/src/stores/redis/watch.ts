import { errorMonitor } from 'node:events';
import type { RedisClient } from './client.js';
import { isRefusal, isSelectError, isSocketTimeout, withoutCommand } from './errors.js';
import { NodeRedisAdapter } from './node-redis.js';
import {
  type Address,
  type ClusterView,
  IoredisNodes,
  isIoredisCluster,
  Listeners,
  nameOf,
} from './nodes.js';
import { readBeforeTimeout } from './read-before-timeout.js';
import { slotOf } from './slot.js';

/**
 * What is known of a client by listening to it, and only that: an error that nobody else listens to stays the error that nobody
 * listens to. Node by node, where it is one of a cluster.
 */
export class RedisWatch {
  readonly #cluster: ClusterView | undefined;
  readonly #prefix: string;
  /** By node; that of the client as a whole under no name. */
  readonly #errors = new Map<string, Error>();
  readonly #listeners = new Listeners();
  /** The error if the connection is in the wrong database. */
  #misplaced: Error | undefined;
  #lastKey: string | undefined;
  #lastSlot = 0;
  #stores = 0;

  constructor(client: RedisClient) {
    this.#prefix = client.options?.keyPrefix ?? '';
    this.#follow(client, '');
    if (client instanceof NodeRedisAdapter && client.isCluster) {
      this.#cluster = client;
      const failed = (error: unknown, node: unknown) =>
        this.#errors.set(nameOf(node as Address), withoutCommand(error as Error));
      this.#listeners.add(client, 'node-error', failed);
      this.#listeners.add(client, 'node-ready', (node) => this.#errors.delete(nameOf(node as Address)));
    } else if (isIoredisCluster(client)) {
      this.#cluster = new IoredisNodes(client, this.#listeners, (node, name) => this.#follow(node, name));
    }
  }

  /** One more store wants to know. */
  begin(): this {
    this.#stores += 1;
    return this;
  }

  /** @returns whether nobody is left who wants to know: then it listens no more */
  end(): boolean {
    this.#stores -= 1;
    if (this.#stores > 0) return false;
    this.#listeners.end();
    return true;
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

  /**
   * The error if the connection is in the wrong database. ioredis only reports that SELECT failed, and keeps using the connection: calls would
   * be counted in the wrong place.
   */
  get misplaced(): Error | undefined {
    return this.#misplaced;
  }

  /** A cluster client that reached no node reports no cause; the errors of its nodes do. */
  isRefusal(error: unknown): boolean {
    if (isRefusal(error)) return true;
    const nodes = [...this.#errors].filter(([node]) => node !== '');
    return nodes.length > 0 && nodes.every(([, ofNode]) => isRefusal(ofNode));
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
    this.#listeners.add(client, errorMonitor, (error) => {
      if (isSelectError(error)) this.#misplaced = withoutCommand(error as Error);
      // That nothing was answered on it is no reason why there is none: the calls tell that themselves.
      if (!isSocketTimeout(error)) this.#errors.set(name, withoutCommand(error as Error));
    });
    readBeforeTimeout(client);
    this.#listeners.add(client, 'connect', () => readBeforeTimeout(client));
    this.#listeners.add(client, 'close', () => {
      this.#misplaced = undefined; // the next connection runs SELECT again
    });
    this.#listeners.add(client, 'ready', () => {
      if (this.#misplaced === undefined) this.#errors.delete(name);
    });
  }
}

const watches = new WeakMap<RedisClient, RedisWatch>();

/** One for each client, however many stores use it: its listeners do not grow in number. To be given back with `unwatch`. */
export function watch(client: RedisClient): RedisWatch {
  let watching = watches.get(client);
  if (watching === undefined) {
    watching = new RedisWatch(client);
    watches.set(client, watching);
  }
  return watching.begin();
}

export function unwatch(client: RedisClient): void {
  if (watches.get(client)?.end()) watches.delete(client);
}

import { getOrCreate } from '../../maps.js';
import type { RedisClient, RedisClientSettings, Subscriber } from './client.js';

/** What we need of a client of the package `redis` (node-redis, 5 or 6), as `createClient()` and `createCluster()` return it. */
export interface NodeRedisClient {
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(source: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  duplicate(): unknown;
  on(event: string | symbol, listener: (...args: unknown[]) => void): unknown;
  off(event: string | symbol, listener: (...args: unknown[]) => void): unknown;
  listenerCount(event: string): number;
}

/** The same with further members; `slots` only of a cluster. */
interface Client extends NodeRedisClient {
  readonly isReady?: boolean;
  readonly _keyPrefix?: unknown;
  readonly options?: {
    readonly url?: string;
    readonly socket?: { readonly host?: string; readonly port?: number };
  };
  readonly slots?: readonly (
    | { readonly master: { address: string; client?: NodeRedisClient } }
    | undefined
  )[];
  info?(section: string): Promise<unknown>;
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  unsubscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  destroy(): void;
}

export function isNodeRedis(client: unknown): client is NodeRedisClient {
  const { evalSha, duplicate, connect } = (client ?? {}) as Partial<NodeRedisClient>;
  return typeof evalSha === 'function' && typeof duplicate === 'function' && typeof connect === 'function';
}

/** A client of `createSentinel()` has all that a client has, and sends a call again whose connection was lost before the reply. */
export const isSentinelOfNodeRedis = (client: NodeRedisClient): boolean => 'getSentinelNode' in client;

const adapted = new WeakMap<NodeRedisClient, NodeRedisAdapter>();

/** A client of node-redis with the interface of ioredis; always the same for one client. */
export const adaptNodeRedis = (client: NodeRedisClient): NodeRedisAdapter =>
  getOrCreate(adapted, client, () => new NodeRedisAdapter(client as Client));

export class NodeRedisAdapter implements RedisClient {
  readonly isCluster: boolean;
  readonly options: RedisClientSettings;
  readonly #client: Client;
  #ended = false;

  constructor(client: Client) {
    this.#client = client;
    this.isCluster = Array.isArray(client.slots);
    const { _keyPrefix: prefix, options: { url, socket } = {} } = client;
    this.options = { keyPrefix: prefix === undefined ? undefined : String(prefix), url, ...socket };
    for (const event of ['end', 'disconnect', 'terminated']) {
      client.on(event, () => {
        this.#ended = true;
      });
    }
  }

  get status(): string {
    const { isOpen, isReady = isOpen } = this.#client;
    if (isReady) return 'ready';
    if (isOpen) return 'connecting';
    return this.#ended ? 'end' : 'wait';
  }

  evalsha(sha1: string, keys: number, ...rest: string[]): Promise<unknown> {
    return this.#client.evalSha(sha1, { keys: rest.slice(0, keys), arguments: rest.slice(keys) });
  }

  eval(source: string, keys: number, ...rest: string[]): Promise<unknown> {
    return this.#client.eval(source, { keys: rest.slice(0, keys), arguments: rest.slice(keys) });
  }

  async info(section: string): Promise<unknown> {
    return this.#client.info?.(section);
  }

  /** An error without a listener ends the process, so a client that is opened here gets one. */
  connect(): Promise<unknown> {
    if (this.#client.listenerCount('error') === 0) this.#client.on('error', () => {});
    return this.#client.connect();
  }

  on(event: string | symbol, listener: (...args: unknown[]) => void): unknown {
    return this.#client.on(this.#eventName(event), listener);
  }

  removeListener(event: string | symbol, listener: (...args: unknown[]) => void): unknown {
    return this.#client.off(this.#eventName(event), listener);
  }

  /** `host:port` of the master of a slot. */
  nodeAt(slot: number): string {
    return this.#client.slots?.[slot]?.master.address ?? '';
  }

  /** The connection to the master of a slot, which the cluster's client opens by itself. */
  connectionAt(slot: number): RedisClient | undefined {
    const client = this.#client.slots?.[slot]?.master.client;
    return client?.isOpen ? adaptNodeRedis(client) : undefined;
  }

  duplicate(): Subscriber {
    const client = this.#client.duplicate() as Client;
    let connected: Promise<unknown> | undefined;
    const connect = (): Promise<unknown> => {
      if (connected !== undefined) return connected;
      const attempt = client.connect();
      connected = attempt;
      attempt.catch(() => {
        if (connected === attempt) connected = undefined;
      });
      return attempt;
    };
    let ended = (): void => {};
    const end = () => {
      connected = undefined;
      ended();
    };
    client.on('end', end);
    client.on('error', () => {
      if (!client.isOpen) end(); // its `reconnectStrategy` gave up, which causes no `end`
    });
    let received: (channel: string, message: string) => void = () => {};
    // The client calls each function that it was given. An `unsubscribe` without one would also end a `subscribe` that follows.
    const listener = (message: string, channel: string) => received(channel, message);
    void connect(); // subscribe() rejects with its error, and connects again after that
    return {
      connect,
      async subscribe(channel) {
        await connect();
        await client.subscribe(channel, listener);
      },
      unsubscribe: (channel) => client.unsubscribe(channel, listener),
      on(event: string, added: (channel: string, message: string) => void) {
        if (event === 'message') received = added;
        else if (event === 'end') ended = added as () => void;
        else if (event !== 'error') client.on(event, added as () => void); // errors have their listener already
      },
      disconnect() {
        try {
          client.destroy();
        } catch {} // node-redis 5 throws if it has ended
      },
    };
  }

  #eventName(event: string | symbol): string | symbol {
    if (event === 'end') return this.isCluster ? 'disconnect' : 'end';
    return event === 'ready' && this.isCluster ? 'connect' : event;
  }
}

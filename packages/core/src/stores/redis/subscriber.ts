import { EVERYONE } from '../../call/call.js';
import { StoreConfigurationError } from '../../errors.js';
import { getOrCreate } from '../../maps.js';
import { isReady, Listeners, type RedisClient, type Subscriber } from './client.js';
import { NoConnectionError, storeClosed } from './errors.js';
import type { Session } from './session.js';

/**
 * Subscriptions may wait for their server: a call that waits for a release has a timeout of its own, and no command here counts anything.
 * A lost subscription is sent again; otherwise it would be neither confirmed nor refused. No ready check: ioredis 5 would run it between
 * subscriptions, which ends the connection.
 */
export const SUBSCRIBER_OPTIONS = {
  enableOfflineQueue: true,
  maxRetriesPerRequest: null,
  autoResendUnfulfilledCommands: true,
  autoResubscribe: false,
  lazyConnect: false,
  socketTimeout: undefined,
  enableReadyCheck: false,
};

/** Never connects again by itself: a new connection takes its place, perhaps to another node. */
export const ONE_CONNECTION = { ...SUBSCRIBER_OPTIONS, retryStrategy: null };

/**
 * A second connection with the settings of a client.
 * @param need what cannot be done without it
 * @throws StoreConfigurationError
 */
export function openSubscriber(client: RedisClient, need: string, ...options: object[]): Subscriber {
  if (client.duplicate === undefined) {
    throw new StoreConfigurationError(
      `redisStore: this client cannot duplicate() itself, which ${need} needs: use an ioredis client`,
    );
  }
  const connection = client.duplicate(...options) as Subscriber & Pick<RedisClient, 'on'>;
  // Others use the same server and report its errors.
  connection.on('error', () => {});
  return connection;
}

/** ms that the connection stays open without a subscription. */
const LINGER_MS = 1000;
/** ms until a connection that has ended by itself is opened again. */
const REVIVAL_MS = 100;

/** @throws NoConnectionError if there is no node */
function someNode(nodes: readonly RedisClient[]): RedisClient {
  const ready = nodes.filter(isReady);
  const among = ready.length > 0 ? ready : nodes;
  const node = among[Math.floor(Math.random() * among.length)];
  if (node === undefined) throw new NoConnectionError('no connection');
  return node;
}

type Granted = (id: number) => void;

/**
 * Wakes the waiting calls of this process when a release anywhere admitted them. One connection for all of them, opened when first
 * needed: a connection that subscribes can do nothing else.
 */
export class ReleaseSubscriber {
  readonly #channels = new Map<string, { listeners: Set<Granted>; ready: Promise<unknown> }>();
  #connection: Subscriber | undefined;
  /** Lost: messages may have been missed since then. */
  #state: 'new' | 'subscribed' | 'lost' = 'new';
  /** On the node whose connection was duplicated. */
  readonly #listeners = new Listeners();
  /** The client is connected again. */
  #reconnected = (): void => {};
  #lingering: NodeJS.Timeout | undefined;
  #revival: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(private readonly session: Session) {}

  /** Scripts publish under the key with the prefix of the client. */
  async listen(key: string, granted: Granted): Promise<() => void> {
    const client = await this.session.withNodes();
    if (this.#closed) throw storeClosed();
    const name = `${client.options?.keyPrefix ?? ''}${key}`;
    clearTimeout(this.#lingering);
    this.#connection ??= this.#open(client);
    const connection = this.#connection;
    const channel = getOrCreate(this.#channels, name, () => ({
      listeners: new Set<Granted>(),
      ready: connection.subscribe(name),
    }));
    channel.listeners.add(granted);
    const stop = () => this.#stop(name, granted);
    try {
      await channel.ready;
    } catch (error) {
      stop();
      throw error;
    }
    if (this.#state === 'new') this.#state = 'subscribed';
    return stop;
  }

  close(): void {
    this.#closed = true;
    this.#disconnect();
  }

  /** All calls that wait look at the store. */
  readonly wakeAll = (): void => {
    for (const channel of this.#channels.keys()) this.#wake(channel, EVERYONE);
  };

  /**
   * On one node of a cluster, because all nodes get all messages. A Cluster has a subscriber of its own, which does not tell when it was
   * lost and messages were missed.
   */
  #open(client: RedisClient, state: 'new' | 'lost' = 'new'): Subscriber {
    this.#state = state;
    const nodes = client.nodes?.('master');
    const server = nodes === undefined ? client : someNode(nodes);
    const options = server === client ? SUBSCRIBER_OPTIONS : ONE_CONNECTION;
    const connection = openSubscriber(server, 'waiting for a concurrency limit', options);
    connection.on('message', (channel, id) => this.#wake(channel, Number(id)));
    this.#listeners.remove();
    // The cluster has lost the node, or has no use for it any more.
    if (server !== client) this.#listeners.add(server, 'end', () => connection.disconnect());
    // A cluster client of node-redis subscribes again by itself.
    if (server !== client || !client.isCluster) this.#resubscribe(client, connection);
    return connection;
  }

  #wake(channel: string, id: number): void {
    for (const granted of [...(this.#channels.get(channel)?.listeners ?? [])]) granted(id);
  }

  /**
   * Subscribes again on each new connection. Waiting calls poll when the connection is lost, which may be an outage, and when it is back,
   * because messages may have been missed.
   */
  #resubscribe(client: RedisClient, connection: Subscriber): void {
    connection.on('ready', async () => {
      try {
        await Promise.all([...this.#channels.keys()].map((channel) => connection.subscribe(channel)));
      } catch {
        // A busy server may refuse. ioredis would leave that rejection unhandled; the next connection subscribes again.
        if (!this.#closed) connection.disconnect(true);
        return;
      }
      if (this.#state === 'lost') this.wakeAll();
      this.#state = 'subscribed';
    });
    const lost = () => {
      if (this.#state !== 'subscribed') return;
      this.#state = 'lost';
      this.wakeAll();
    };
    connection.on('reconnecting', lost);
    // This connection sends nothing, so it can be dead without notice. The client notices, and connects again, perhaps elsewhere.
    this.session.watch?.reconnected.delete(this.#reconnected);
    this.#reconnected = () => {
      if (this.#state === 'subscribed') connection.disconnect(true);
    };
    this.session.watch?.reconnected.add(this.#reconnected);
    // ioredis gives up for good when a Sentinel reports a failover during a connection attempt, node-redis by its `reconnectStrategy`.
    connection.on('end', () => {
      if (connection !== this.#connection) return;
      lost();
      this.#reviveSoon(client, connection);
    });
  }

  #reviveSoon(client: RedisClient, connection: Subscriber): void {
    clearTimeout(this.#revival);
    this.#revival = setTimeout(() => {
      const nodes = client.nodes?.('master');
      if (nodes === undefined) connection.connect?.().catch(() => {});
      else if (nodes.length === 0) this.#reviveSoon(client, connection);
      else this.#connection = this.#open(client, 'lost');
    }, REVIVAL_MS).unref();
  }

  #stop(channel: string, granted: Granted): void {
    const listeners = this.#channels.get(channel)?.listeners;
    if (!listeners?.delete(granted) || listeners.size > 0) return;
    this.#channels.delete(channel);
    this.#connection?.unsubscribe(channel).catch(() => {}); // the connection is lost, and its subscriptions with it
    if (this.#channels.size > 0 || this.#closed) return;
    clearTimeout(this.#lingering);
    this.#lingering = setTimeout(() => {
      if (this.#channels.size === 0) this.#disconnect(); // a listener may have been added meanwhile
    }, LINGER_MS).unref();
  }

  #disconnect(): void {
    this.#listeners.remove();
    this.session.watch?.reconnected.delete(this.#reconnected);
    clearTimeout(this.#lingering);
    clearTimeout(this.#revival);
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.disconnect();
  }
}

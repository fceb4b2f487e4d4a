import { EVERYONE } from '../../engine/call.js';
import { StoreConfigurationError } from '../../errors.js';
import type { RedisClient } from './client.js';
import { storeClosed } from './errors.js';

/** A connection that only listens. */
export interface Subscriber {
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: 'message', listener: (channel: string, message: string) => void): unknown;
  on(event: 'ready' | 'reconnecting', listener: () => void): unknown;
  /** @param reconnect to begin anew */
  disconnect(reconnect?: boolean): void;
}

/** After the last who listened has gone the connection stays for so long, should another come. */
const LINGER_MS = 1000;

/** A Cluster listens on one node, and on another when it loses that one; what it was told meanwhile waits for the next. */
const PATIENT_CLUSTER = { enableOfflineQueue: true, lazyConnect: false, retryDelayOnFailover: 100 };

type Granted = (id: number) => void;

/**
 * Tells those who wait for a held permit, in this process, that a release anywhere let them in. One connection of its own for
 * all of them, opened when first needed: a connection that listens can do nothing else.
 */
export class RedisWakeUps {
  readonly #client: () => Promise<RedisClient>;
  readonly #channels = new Map<
    string,
    { readonly listeners: Set<Granted>; readonly ready: Promise<unknown> }
  >();
  #connection: Promise<Subscriber> | undefined;
  #lingering: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(client: () => Promise<RedisClient>) {
    this.#client = client;
  }

  /** Scripts publish under the key as they see it, prefix of the client included. */
  async listen(key: string, granted: Granted): Promise<() => void> {
    const client = await this.#client();
    if (this.#closed) throw storeClosed();
    const channel = `${client.options?.keyPrefix ?? ''}${key}`;
    const connection = await this.#connect(client);
    const known = this.#channels.get(channel);
    const { listeners, ready } = known ?? {
      listeners: new Set<Granted>(),
      ready: connection.subscribe(channel),
    };
    if (known === undefined) this.#channels.set(channel, { listeners, ready });
    listeners.add(granted);
    const stop = () => this.#stop(connection, channel, granted);
    try {
      await ready;
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  close(): void {
    this.#closed = true;
    this.#channels.clear();
    this.#disconnect();
  }

  #connect(client: RedisClient): Promise<Subscriber> {
    clearTimeout(this.#lingering);
    this.#connection ??= this.#open(client);
    return this.#connection;
  }

  async #open(client: RedisClient): Promise<Subscriber> {
    if (client.duplicate === undefined) {
      throw new StoreConfigurationError(
        'redis store: this client cannot duplicate() itself, which waiting for a concurrency limit needs: use an ioredis client',
      );
    }
    // It may wait for its server: who waits for a release has a timeout of his own. No command of it counts anything.
    // And it must not ask whether its server is ready: ioredis 5 would ask in the midst of listening, which ends the connection.
    const patient = {
      enableOfflineQueue: true,
      maxRetriesPerRequest: null,
      // Otherwise a subscription whose reply is lost is neither confirmed nor refused, for all who come to its channel.
      autoResendUnfulfilledCommands: true,
      autoResubscribe: false,
      lazyConnect: false,
      socketTimeout: undefined,
      enableReadyCheck: false,
    };
    const connection = (
      client.isCluster ? client.duplicate([], PATIENT_CLUSTER) : client.duplicate(patient)
    ) as Subscriber & Pick<RedisClient, 'on'>;
    // Its server is the one that decisions ask as well: they tell what is wrong with it.
    connection.on('error', () => {});
    connection.on('message', (channel, id) => this.#tell(channel, Number(id)));
    if (!client.isCluster) this.#keepListening(connection);
    return connection;
  }

  #tell(channel: string, id: number): void {
    for (const granted of [...(this.#channels.get(channel)?.listeners ?? [])]) granted(id);
  }

  /** Waiting calls poll when the connection is lost, which may be an outage, and when it is back, as messages may have been missed. */
  #keepListening(connection: Subscriber): void {
    const tellAll = () => {
      for (const channel of this.#channels.keys()) this.#tell(channel, EVERYONE);
    };
    let state: 'new' | 'listens' | 'lost' = 'new';
    connection.on('ready', async () => {
      if (!(await this.#subscribeAgain(connection))) return;
      if (state === 'lost') tellAll();
      state = 'listens';
    });
    connection.on('reconnecting', () => {
      if (state !== 'listens') return;
      state = 'lost';
      tellAll();
    });
  }

  /** ioredis itself would leave it to nobody to catch that a busy server refuses. Then the next connection asks again. */
  async #subscribeAgain(connection: Subscriber): Promise<boolean> {
    const channels = [...this.#channels.keys()];
    try {
      await Promise.all(channels.map((channel) => connection.subscribe(channel)));
      return true;
    } catch {
      if (!this.#closed) connection.disconnect(true);
      return false;
    }
  }

  #stop(connection: Subscriber, channel: string, granted: Granted): void {
    const listeners = this.#channels.get(channel)?.listeners;
    if (!listeners?.delete(granted) || listeners.size > 0) return;
    this.#channels.delete(channel);
    connection.unsubscribe(channel).catch(() => {}); // then the connection is lost, and the channel with it
    if (this.#channels.size > 0 || this.#closed) return;
    clearTimeout(this.#lingering);
    this.#lingering = setTimeout(() => {
      if (this.#channels.size === 0) this.#disconnect(); // else somebody came while this was set
    }, LINGER_MS).unref();
  }

  #disconnect(): void {
    clearTimeout(this.#lingering);
    this.#connection?.then((connection) => connection.disconnect()).catch(() => {}); // never opened
    this.#connection = undefined;
  }
}

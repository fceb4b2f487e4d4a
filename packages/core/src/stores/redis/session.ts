import { performance } from '#platform';
import { FIRST_CONNECTION_MS } from '../../clock.js';
import type { StoreConfigurationError, StoreUnavailableError } from '../../errors.js';
import type { StoreHealth } from '../../health/store-health.js';
import { isReady, type RedisClient, within } from './client.js';
import { warnOfEviction, warnOfResending } from './client-settings.js';
import { addressOfClient, addressOfServer, OwnConnection, resolveClient } from './connection.js';
import { classified, isMistake, storeClosed, tooLate } from './errors.js';
import type { NodeRedisClient } from './node-redis.js';
import type { RedisStoreOptions } from './redis-store-options.js';
import { type RedisWatch, unwatch, watch } from './watch.js';

/** Status of a connection before its first use. After a loss it is another. */
const OPENING = /^(?:wait|connecting|connect)$/;

/** The longest time of a call that no decision waits for, ms. */
const LONGEST = 5_000;

/** The client of a store, its own or a borrowed one, and the facts known of the connection. */
export class Session {
  readonly own: OwnConnection | undefined;
  /** The server's address, without a password. */
  readonly address: string;
  /** The function that makes the store, for messages. */
  readonly maker: string;
  /** Undefined until the store's own client is created, and again after `close`. */
  client: RedisClient | undefined;
  watch: RedisWatch | undefined;
  /** Has the server answered? */
  met = false;
  /** End of the first connection's time, ms of the monotonic clock: infinite before it begins, undefined when it is over. */
  #firstUntil: number | undefined = Number.POSITIVE_INFINITY;
  #connecting: Promise<void> | undefined;
  #closed = false;

  /** @param reconnected called when the connection was lost and is there again */
  constructor(
    redis: string | RedisClient | NodeRedisClient | RedisStoreOptions,
    private readonly health: StoreHealth,
    private readonly reconnected: () => void,
  ) {
    this.maker = health.maker;
    const client = resolveClient(redis);
    if (client instanceof OwnConnection) {
      this.own = client;
      this.address = addressOfServer(client.server);
    } else {
      this.address = addressOfClient(client);
      this.#use(client);
      warnOfResending(client);
      if (isReady(client) && !client.isConnectionless) this.#firstUntil = undefined;
    }
  }

  /** @param deadline ms that a call waits for an answer */
  expect(deadline = 0): void {
    this.own?.expect(deadline);
    this.client?.expect?.(deadline);
  }

  /** The first read starts the time. */
  get firstConnectionUntil(): number | undefined {
    if (this.#firstUntil === undefined) return undefined;
    const now = performance.now();
    const until = Math.min(this.#firstUntil, now + FIRST_CONNECTION_MS);
    this.#firstUntil = now < until ? until : undefined;
    return this.#firstUntil;
  }

  /** @throws StoreUnavailableError once the store is closed */
  async opened(): Promise<RedisClient> {
    const client = this.client ?? (this.#closed ? undefined : await this.own!.open());
    if (client === undefined || this.#closed) throw storeClosed(this.maker);
    return this.#use(client);
  }

  /** The client, once it knows the nodes of its cluster, if it has one. */
  async withNodes(): Promise<RedisClient> {
    const client = await this.opened();
    if (client.nodes?.('master').length === 0) await this.watch!.connected(client);
    return client;
  }

  /** All callers share one attempt. @param warmUp runs a script that changes nothing */
  connect(warmUp: (client: RedisClient) => Promise<unknown>): Promise<void> {
    this.#connecting ??= this.#connect(warmUp).finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(warmUp: (client: RedisClient) => Promise<unknown>): Promise<void> {
    try {
      await this.opened();
      void this.firstConnectionUntil; // this attempt uses the time of the first connection
      const late = () => tooLate('not connected', FIRST_CONNECTION_MS, this.watch!.error(), this.maker);
      await within(this.watch!.warmUp(warmUp), late);
    } catch (error) {
      throw this.#closed
        ? storeClosed(this.maker)
        : classified(error, this.watch?.error(), false, this.maker);
    }
  }

  /** The client, if a decision has used it, and a call for `key` could be sent to a server that is not out. */
  async inUse(key: string): Promise<RedisClient | undefined> {
    const { client, watch: watching } = this;
    if (client === undefined || watching === undefined || !this.met) return undefined;
    if (!isReady(client) || watching.misplaced !== undefined) return undefined;
    const name = watching.nodeOf(key);
    if (!this.health.node(name).circuit.closed) return undefined;
    const node = watching.connectionFor(key);
    if (node === undefined || isReady(node)) return client;
    // A cluster client connects to a node at the first call for it.
    if (!OPENING.test(node.status ?? '')) return undefined;
    await watching.connected(node, name);
    return client;
  }

  /** Resolves when there is a connection to the node of `key`. */
  async connected(key: string): Promise<RedisClient> {
    const client = await this.opened();
    const watching = this.watch!;
    await watching.connected(client);
    const node = watching.connectionFor(key);
    if (node !== undefined && !isReady(node)) await watching.connected(node, watching.nodeOf(key));
    return client;
  }

  errorOf(error: unknown, key: string, neverSent = false): StoreUnavailableError | StoreConfigurationError {
    return classified(error, this.watch?.error(this.watch.nodeOf(key)), neverSent, this.maker);
  }

  /** For calls that no decision waits for: a server that is frozen would keep them without end. */
  inTime<T>(reply: Promise<T>): Promise<T> {
    return within(reply, () => tooLate('no answer', LONGEST, this.watch?.error(), this.maker), LONGEST);
  }

  /** Leaves a borrowed client open. */
  close(): void {
    const { client } = this;
    this.#closed = true;
    this.client = undefined;
    this.own?.close();
    if (client === undefined) return;
    this.watch?.reconnected.delete(this.reconnected);
    if (this.own !== undefined) this.watch?.stopWaiting();
    unwatch(client);
  }

  /** Checks the server's settings once, after the first call that it answers. */
  meet(client: RedisClient, reply: Promise<unknown>): void {
    this.met = true;
    void warnOfEviction(client);
    reply.then(
      () => {
        this.#firstUntil = undefined;
        this.health.answered();
      },
      (error) => {
        if (isMistake(error)) this.#firstUntil = undefined;
        else this.met = false;
      },
    );
  }

  #use(client: RedisClient): RedisClient {
    if (this.watch === undefined) {
      this.watch = watch(client);
      this.watch.reconnected.add(this.reconnected);
    }
    this.client = client;
    return client;
  }
}

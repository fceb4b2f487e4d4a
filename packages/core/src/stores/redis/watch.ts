import { errorMonitor } from '#platform';
import { getOrCreate } from '../../maps.js';
import { setImmediate } from '../../runtime.js';
import {
  isReady,
  Listeners,
  type RedisClient,
  type RedisClientSettings,
  readBeforeTimeout,
} from './client.js';
import { type ClusterView, followNodes, isIoredisCluster, nameOf, slotOf } from './cluster.js';
import { isRefusal, isSelectError, isSocketTimeout, NoConnectionError, withoutCommand } from './errors.js';
import { NodeRedisAdapter } from './node-redis.js';

/**
 * The state of a client, and of each node of a cluster, learned by listening to its events. It listens to errors with `errorMonitor`, so
 * an error without another listener stays an uncaught one.
 */
export class RedisWatch {
  readonly #cluster: ClusterView | undefined;
  readonly #prefix: string;
  /** The last error by node; of the client as a whole under ''. */
  readonly #errors = new Map<string, Error>();
  /** The connection attempts that calls wait for. */
  readonly #attempts = new Map<RedisClient, { readonly ready: Promise<void>; giveUp(): void }>();
  /** Called when the client was lost and is ready again. Stores share these listeners, too. */
  readonly reconnected = new Set<() => void>();
  #wasLost = false;
  readonly #listeners = new Listeners();
  #lastKey: string | undefined;
  #lastSlot = 0;
  #stores = 0;

  constructor(private readonly client: RedisClient) {
    this.#prefix = client.options?.keyPrefix ?? '';
    this.#follow(client, '');
    if (client instanceof NodeRedisAdapter && client.isCluster) {
      this.#cluster = client;
      const failed = (error: unknown, node: unknown) =>
        this.#errors.set(nameOf(node as RedisClientSettings), withoutCommand(error as Error));
      this.#listeners.add(client, 'node-error', failed);
      this.#listeners.add(client, 'node-ready', (node) =>
        this.#errors.delete(nameOf(node as RedisClientSettings)),
      );
    } else if (isIoredisCluster(client)) {
      this.#cluster = followNodes(client, this.#listeners, (node, name) => this.#follow(node, name));
    }
  }

  /** One more store uses the client. */
  begin(): this {
    this.#stores += 1;
    return this;
  }

  /** One store less. @returns whether it was the last; then all listeners are removed */
  end(): boolean {
    this.#stores -= 1;
    if (this.#stores === 0) this.#listeners.remove();
    return this.#stores === 0;
  }

  /** The node that serves a key, `host:port`; empty if there is only one server, or the client does not know yet. */
  nodeOf(key: string): string {
    return this.#cluster === undefined ? '' : this.#cluster.nodeAt(this.#slotOf(key));
  }

  /** The connection that calls for a key use, if it is not the client itself. */
  connectionFor(key: string): RedisClient | undefined {
    return this.#cluster?.connectionAt(this.#slotOf(key));
  }

  /** The last error of the connection to a node, or to the only server. Undefined once it is ready again. */
  error(node = ''): Error | undefined {
    return this.#errors.get(node) ?? this.#errors.get('');
  }

  /**
   * The error if the connection is in the wrong database. ioredis only reports that SELECT failed, and keeps using the connection: calls would
   * be counted in the wrong place.
   */
  misplaced: Error | undefined;

  /**
   * Resolves when the client, or the connection to a node, is ready. Rejects if the last attempt was refused, without waiting for the next
   * one: a client may pause for seconds before it. A connection to the wrong database is not ready either.
   * @throws NoConnectionError if the server refuses, or the client gives up or has ended
   */
  async connected(client: RedisClient, node?: string): Promise<void> {
    const refused = !isReady(client) && client.status !== 'wait' && this.#isRefusal(this.error(node));
    // Otherwise a caller that calls again without a pause would keep the client from its next attempt.
    if (refused || this.misplaced !== undefined) await new Promise((resolve) => setImmediate(resolve));
    if (refused && !isReady(client)) throw new NoConnectionError('no connection');
    await this.#attempted(client);
  }

  /** The same, but waits for the next attempt. */
  async #attempted(client: RedisClient): Promise<void> {
    if (!isReady(client)) await this.#attempt(client);
    if (this.misplaced !== undefined) throw this.misplaced;
  }

  /**
   * Connects, and loads the script on every server.
   * @param run runs the script without a call
   */
  async warmUp(run: (client: RedisClient) => Promise<unknown>): Promise<void> {
    await this.#attempted(this.client);
    const nodes = this.client.nodes?.('master') ?? [];
    if (nodes.length === 0) return void (await run(this.client));
    // An unreachable cluster node does not fail the start: only its own keys are out.
    const results = await Promise.allSettled(
      nodes.map(async (node) => {
        await this.#attempted(node);
        await run(node);
      }),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    if (refused.length === nodes.length) throw refused[0]!.reason;
  }

  /** Rejects all calls that wait for a connection. A client that is ended between two attempts emits no event. */
  stopWaiting(): void {
    for (const attempt of [...this.#attempts.values()]) attempt.giveUp();
  }

  /** All callers share one attempt. After one that was slow or broken the client tries again: the caller decides how long to wait. */
  #attempt(client: RedisClient): Promise<void> {
    const known = this.#attempts.get(client);
    if (known !== undefined) return known.ready;
    if (client.status === 'end' || client.on === undefined) {
      throw new NoConnectionError(`the connection is in state '${client.status}'`);
    }
    const listeners = new Listeners();
    let giveUp = () => {};
    const ready = new Promise<void>((resolve, reject) => {
      const settle = (done: () => void) => {
        listeners.remove();
        this.#attempts.delete(client);
        done();
      };
      giveUp = () => settle(() => reject(new NoConnectionError('no connection')));
      listeners.add(client, 'ready', () => settle(resolve));
      listeners.add(client, 'end', giveUp);
      listeners.add(client, errorMonitor, (error) => {
        if (this.#isRefusal(error)) giveUp();
      });
    });
    this.#attempts.set(client, { ready, giveUp });
    // The events of the client report how this ends.
    if (client.status === 'wait') client.connect?.().catch(() => {});
    return ready;
  }

  /** Would the next attempt fail with the same error? A cluster client that reached no node reports no cause; the errors of its nodes do. */
  #isRefusal(error: unknown): boolean {
    if (error === undefined) return false;
    if (isRefusal(error)) return true;
    const nodes = [...this.#errors].filter(([node]) => node !== '');
    return nodes.length > 0 && nodes.every(([, ofNode]) => isRefusal(ofNode));
  }

  /** A call needs the slot of its key twice. */
  #slotOf(key: string): number {
    if (key !== this.#lastKey) {
      this.#lastSlot = slotOf(this.#prefix + key);
      this.#lastKey = key;
    }
    return this.#lastSlot;
  }

  #follow(client: RedisClient, name: string): void {
    this.#listeners.add(client, errorMonitor, (error) => {
      if (isSelectError(error)) this.misplaced = withoutCommand(error as Error);
      // A silent connection is not the cause of an outage; the calls report it themselves.
      if (!isSocketTimeout(error)) this.#errors.set(name, withoutCommand(error as Error));
    });
    readBeforeTimeout(client);
    this.#listeners.add(client, 'connect', () => readBeforeTimeout(client));
    this.#listeners.add(client, 'close', () => {
      this.misplaced = undefined; // the next connection runs SELECT again
      if (client === this.client) this.#wasLost = true;
    });
    this.#listeners.add(client, 'ready', () => {
      if (this.misplaced === undefined) this.#errors.delete(name);
      if (client !== this.client || !this.#wasLost) return;
      this.#wasLost = false;
      for (const listener of [...this.reconnected]) listener();
    });
  }
}

const watches = new WeakMap<RedisClient, RedisWatch>();

/** One for each client, however many stores use it: its listeners do not grow in number. Return it with `unwatch`. */
export const watch = (client: RedisClient): RedisWatch =>
  getOrCreate(watches, client, () => new RedisWatch(client)).begin();

export function unwatch(client: RedisClient): void {
  if (watches.get(client)?.end()) watches.delete(client);
}

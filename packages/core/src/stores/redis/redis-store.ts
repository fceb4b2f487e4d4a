import type { Script } from '../../algorithms/algorithm.js';
import { FIRST_CONNECTION_MS, systemClock } from '../../clock.js';
import { type Answer, type Call, storageKey } from '../../engine/call.js';
import { decideScript } from '../../engine/decide.script.js';
import { isSluiceError } from '../../errors.js';
import type { Departure } from '../../pipeline/deadlines.js';
import { directCall, type PendingCall } from '../../pipeline/pending-call.js';
import type { RateAnswer, RateChange } from '../shared-rate.js';
import { sharedRateScript } from '../shared-rate.script.js';
import type { Asked, Store } from '../store.js';
import type { StoreEvents } from '../store-events.js';
import { StoreHealth } from '../store-health.js';

import { Batch, type KeyGroup } from './batch.js';
import { Batches, bySlot, type Place, tagOf } from './batches.js';
import { FirstConnection, isReady, type RedisClient, runScript, withinFirstConnection } from './client.js';

import { OwnConnection } from './connection.js';
import { classified, isMistake, notConnected, storeClosed } from './errors.js';

import type { NodeRedisClient } from './node-redis.js';
import { Numbers } from './numbers.js';
import type { RedisStoreOptions } from './redis-store-options.js';
import { ReleaseSubscriber } from './release-subscriber.js';
import { rateAnswer, settle } from './reply.js';
import { addressOfClient, addressOfServer, resolveClient } from './resolve-client.js';
import { together } from './socket.js';
import { warnOfDeclaredKeys, warnOfEviction, warnOfResending } from './warnings.js';
import { type RedisWatch, unwatch, watch } from './watch.js';
import { refusesUndeclared, undeclared, type Written, wasNotRun, written } from './wire.js';

/**
 * State in Redis, shared by every process that uses the same. Takes an address, a client of ioredis (5 or 6), iovalkey or node-redis that
 * stays yours to close, or options: `{ url }`, `{ sentinels, name }`, `{ cluster }`, `{ client }`. Without a client of yours ioredis must be
 * installed. Connects at the first call, not before.
 * @throws TypeError when it is none of these, or an option is misspelt
 */
export function redisStore(redis: string | RedisClient | NodeRedisClient | RedisStoreOptions): RedisStore {
  return new RedisStore(redis);
}

/** Something with a storage key. */
interface Keyed {
  readonly key: string;
}

/** What `redisStore` makes. `on` and `off` tell of outages; `close` ends its own connections and leaves a client of yours open. */
export class RedisStore implements Store {
  readonly name = 'redis';
  readonly remote = true;
  readonly clock = systemClock;
  readonly health = new StoreHealth(
    (node) => this.#watch?.error(node),
    () => this.#address,
  );
  readonly #own: OwnConnection | undefined;
  /** The server's address, without a password. */
  readonly #address: string;
  #client: RedisClient | undefined;
  #watch: RedisWatch | undefined;
  readonly #batches = new Batches(this.clock, (batches, arrived) => {
    if (batches.length === 1) this.#send(batches[0]!, undefined, arrived);
    else
      together(this.#client, () => {
        for (const batch of batches) this.#send(batch, undefined, arrived);
      });
  });
  readonly #releases = new ReleaseSubscriber(() => this.#connected());
  readonly #first = new FirstConnection();
  #connecting: Promise<void> | undefined;
  #met = false;
  /** Does the cluster refuse keys that are not declared, as some proxies do? Then each slot has its own script call. */
  #declares = false;
  #closed = false;

  constructor(redis: string | RedisClient | NodeRedisClient | RedisStoreOptions) {
    const client = resolveClient(redis);
    if (client instanceof OwnConnection) {
      this.#own = client;
      this.#address = addressOfServer(client.server);
    } else {
      this.#address = addressOfClient(client);
      this.#use(client);
      warnOfResending(client);
      if (isReady(client)) this.#first.end();
    }
    if (this.slotted) this.#batches.placeOf = this.#placeOf;
  }

  get slotted(): boolean {
    return this.#own?.isCluster ?? this.#client?.isCluster === true;
  }

  /** ioredis, where the store makes its own client. */
  get loading(): Promise<unknown> | undefined {
    return this.#own?.loading;
  }

  get firstConnectionUntil(): number | undefined {
    return this.#first.until;
  }

  nodeOf(key: string): string {
    return this.#watch?.nodeOf(key) ?? '';
  }

  decide(call: Call): Promise<Answer> {
    const pending = directCall(call);
    this.send(pending);
    return pending.promise;
  }

  send(call: PendingCall): Departure {
    return this.#batches.add(call);
  }

  expect(deadline: number): void {
    this.#own?.expect(deadline);
  }

  /** @internal Decides calls, in order, in one trip. In a cluster their keys must share a slot. `now` takes the place of the server's clock. */
  decideAll(calls: readonly Call[], now?: number): Promise<Answer[]> {
    const batch = new Batch(this.clock.now());
    const pending = calls.map(directCall);
    for (const one of pending) batch.add(one);
    this.#send(batch, now);
    return Promise.all(pending.map(({ promise }) => promise));
  }

  async listen(key: string, granted: (id: number) => void): Promise<() => void> {
    try {
      return await this.#releases.listen(key, granted);
    } catch (error) {
      throw this.#classified(error, key);
    }
  }

  async rate(change: RateChange, asked: Asked = {}): Promise<RateAnswer> {
    const { keepAlive, perClient, parameters } = change.rate ?? {};
    const rate = change.rate === undefined ? [] : [keepAlive!, perClient!, ...parameters!];
    const args = ['', change.action, ...rate.map(String)];
    const write = () => (asked.abandoned ? undefined : { keys: [change.key], args });
    this.#own?.expect(asked.deadline);
    try {
      return rateAnswer(new Numbers(await this.#run(sharedRateScript, change, write)).rest());
    } catch (error) {
      throw this.#classified(error, change.key);
    }
  }

  /** Listens to what happens to this store: `storeError`, `degraded`, `recovered`; see `StoreEvents`. */
  on<E extends keyof StoreEvents>(event: E, listener: (event: StoreEvents[E]) => void): this {
    this.health.on(event, listener);
    return this;
  }

  /** Listens no more. */
  off<E extends keyof StoreEvents>(event: E, listener: (event: StoreEvents[E]) => void): this {
    this.health.off(event, listener);
    return this;
  }

  /**
   * Connects now and loads the script, so that the first call does not have to. Also opens a client of yours that is not open yet. Resolves at
   * once if connected. Takes at most 2 s, not counting the time to load ioredis. After a rejection you may call it again.
   * @throws StoreUnavailableError if the server is out, StoreConfigurationError if the store is not set up correctly
   */
  connect(): Promise<void> {
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.health.end();
    this.#releases.close();
    this.#own?.close();
    if (this.#client === undefined) return;
    if (this.#own !== undefined) this.#watch?.stopWaiting();
    unwatch(this.#client);
  }

  async #connect(): Promise<void> {
    try {
      await this.#connected();
      const late = () => notConnected(FIRST_CONNECTION_MS, this.#watch!.error());
      await withinFirstConnection(this.#watch!.warmUp(this.#runEmpty), late);
    } catch (error) {
      if (this.#closed) throw storeClosed();
      throw isSluiceError(error) ? error : classified(error, this.#watch?.error());
    }
  }

  /** Runs the script without any call. */
  readonly #runEmpty = (client: RedisClient) =>
    this.#runOn(client, decideScript, () => ({ keys: [], args: ['0', '', '', '0'] }));

  /** Calls of one node travel together, as long as its keys need not be declared. */
  readonly #placeOf = ({ call, node }: PendingCall): Place => {
    const key = storageKey(call);
    const name = this.#declares ? '' : (node?.node ?? this.nodeOf(key));
    // A tag never has a space.
    return name === '' ? { name: tagOf(key), node: undefined } : { name: ` ${name}`, node: name };
  };

  /** @param arrived called when it is under way no more, before its calls resolve */
  #send(batch: Batch, now?: number, arrived = () => {}): void {
    const node = batch.node === undefined || this.#declares ? undefined : this.#readyNode(batch.key);
    if (batch.node !== undefined && node === undefined) {
      this.#sendDeclared(batch, bySlot(batch.groups), arrived);
      return;
    }
    const write = (bytes: boolean) => {
      if (batch.hasEnded && !batch.forget()) return undefined;
      batch.markSent();
      const call = written(batch.groups, batch.localTime, now, bytes);
      return node === undefined ? call : undeclared(call, this.#client!.options?.keyPrefix ?? '');
    };
    const replied =
      node === undefined ? this.#run(decideScript, batch, write) : this.#runOn(node, decideScript, write);
    replied.then(
      (reply) => {
        arrived();
        try {
          const { undecided, refusal } = settle(batch.groups, new Numbers(reply));
          if (refusal !== undefined) this.#declareKeys(refusal);
          // One by one: a key whose slot is moving would hold up the others of its slot.
          if (undecided.length > 0)
            this.#sendDeclared(
              batch,
              undecided.map((one) => [one]),
            );
          else batch.end();
        } catch (error) {
          batch.failed(this.#classified(error, batch.key));
        }
      },
      (error) => {
        arrived();
        if (node !== undefined && wasNotRun(error)) {
          if (refusesUndeclared(error)) this.#declareKeys(String((error as Error).message));
          this.#sendDeclared(batch, bySlot(batch.groups));
        } else {
          batch.failed(this.#classified(error, batch.key, !batch.sent));
        }
      },
    );
  }

  /**
   * Sends each part with declared keys: the client follows a key that has moved. Nothing was written for these calls.
   * @param arrived called when none is under way any more
   */
  #sendDeclared(batch: Batch, parts: readonly (readonly KeyGroup[])[], arrived = () => {}): void {
    let underWay = parts.length;
    const oneArrived = () => {
      underWay -= 1;
      if (underWay === 0) arrived();
    };
    for (const one of batch.apart(parts)) this.#send(one, undefined, oneArrived);
  }

  /** From now on. */
  readonly #declareKeys = (refusal: string): void => {
    this.#declares = true;
    warnOfDeclaredKeys(this.#address, refusal);
  };

  /** The connection to the node of a key, if it can be used now. */
  #readyNode(key: string): RedisClient | undefined {
    const node = this.#closed ? undefined : this.#nodeFor(key);
    return node !== undefined && isReady(node) ? node : undefined;
  }

  /**
   * At once if there is a connection: a call that is sent alone needs no further promise.
   * @param keyed has one of the keys that the script is given
   * @param write keys and arguments as of now; undefined if all calls have ended
   */
  #run(script: Script, keyed: Keyed, write: (bytes: boolean) => Written | undefined): Promise<unknown> {
    const client = this.#closed ? undefined : this.#client;
    const isOpen = client !== undefined && isReady(client) && this.#watch!.misplaced === undefined;
    if (!isOpen || (client.isCluster && !isReady(this.#nodeFor(keyed.key) ?? client))) {
      return this.#runLater(script, keyed.key, write);
    }
    return this.#runOn(client, script, write);
  }

  async #runLater(
    script: Script,
    key: string,
    write: (bytes: boolean) => Written | undefined,
  ): Promise<unknown> {
    const client = await this.#connected();
    const watching = this.#watch!;
    await watching.connected(client);
    const node = this.#nodeFor(key);
    if (node !== undefined && !isReady(node)) await watching.connected(node, watching.nodeOf(key));
    return this.#runOn(client, script, write);
  }

  #runOn(
    client: RedisClient,
    script: Script,
    write: (bytes: boolean) => Written | undefined,
  ): Promise<unknown> {
    try {
      const reply = runScript(client, script, write);
      if (!this.#met) this.#meet(client, reply);
      return reply;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #nodeFor(key: string): RedisClient | undefined {
    return this.#watch?.connectionFor(key);
  }

  #classified(error: unknown, key: string, neverSent = false): unknown {
    return isSluiceError(error) ? error : classified(error, this.#watch?.error(this.nodeOf(key)), neverSent);
  }

  /** Checks the server's settings once, after the first call that it answers. */
  #meet(client: RedisClient, reply: Promise<unknown>): void {
    this.#met = true;
    void warnOfEviction(client);
    reply.then(
      () => {
        this.#first.end();
        this.health.answered();
      },
      (error) => {
        if (!isMistake(error)) this.#met = false;
        else this.#first.end();
      },
    );
  }

  async #connected(): Promise<RedisClient> {
    const client = this.#client ?? this.#use(await this.#own!.open());
    if (!this.#closed) return client;
    throw storeClosed();
  }

  #use(client: RedisClient): RedisClient {
    this.#watch ??= watch(client);
    this.#client = client;
    return client;
  }
}

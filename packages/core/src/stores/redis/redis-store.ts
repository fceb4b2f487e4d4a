import type { Script } from '../../algorithms/algorithm.js';
import { systemClock } from '../../clock.js';
import { type Answer, type Call, type Part, storageKey } from '../../engine/call.js';
import { decideScript } from '../../engine/decide.script.js';
import { ESCALATION_SUFFIX } from '../../engine/escalation.js';
import { storedKey } from '../../engine/stored-entry.js';
import { DenialFeed } from '../../fleet/denial-feed.js';
import { RedisBoard } from '../../fleet/redis-board.js';
import type { Departure } from '../../pipeline/deadlines.js';
import { directCall, type PendingCall } from '../../pipeline/pending-call.js';
import { STORE_CALL } from '../../telemetry/channels.js';
import type { StoreEvents } from '../../telemetry/store-events.js';
import { StoreUsage } from '../../usage/store-usage.js';
import { claimScript } from '../claim.script.js';
import { lookScript } from '../look.script.js';
import type { RateAnswer, RateChange } from '../shared-rate.js';
import { sharedRateScript } from '../shared-rate.script.js';
import type { Store, StoreCaller, StoredKey } from '../store.js';
import { StoreHealth } from '../store-health.js';
import { Batch, type KeyGroup } from './batch.js';
import { Batches, bySlot } from './batches.js';
import { inTime, type RunKey, SessionBoardConnection } from './board-connection.js';
import { isReady, type RedisClient, runScript, type Write } from './client.js';
import type { NodeRedisClient } from './node-redis.js';
import { Numbers } from './numbers.js';
import type { RedisStoreOptions } from './redis-store-options.js';
import { ReleaseSubscriber } from './release-subscriber.js';
import { rateAnswer, settle } from './reply.js';
import { Session } from './session.js';
import { inOneWrite } from './socket.js';
import { StoreCall } from './store-call-message.js';
import { warnOfDeclaredKeys } from './warnings.js';
import { refusesUndeclared, undeclared, wasNotRun, written } from './wire.js';

/**
 * Keeps state in Redis, shared by all processes that use the same server. Takes an address, options (`{ url }`, `{ sentinels, name }`,
 * `{ cluster }`, `{ client }`), or a client of ioredis (5 or 6), iovalkey or node-redis, which you close yourself. Without a client of yours,
 * ioredis must be installed. Connects at the first call.
 * @throws TypeError for anything else, and for unknown options
 */
export function redisStore(redis: string | RedisClient | NodeRedisClient | RedisStoreOptions): RedisStore {
  return new RedisStore(redis);
}

/** The store that `redisStore` returns. `on` reports outages; `close` ends its own connections and leaves a client of yours open. */
export class RedisStore implements Store {
  readonly name = 'redis';
  readonly remote = true;
  readonly slotted: boolean;
  readonly clock = systemClock;
  readonly health: StoreHealth = new StoreHealth(
    (node) => this.#session.watch?.error(node),
    () => this.#session.address,
    'redis',
  );
  readonly usage: StoreUsage | undefined;
  readonly #session: Session;
  readonly #batches = new Batches(this.clock, (batches, arrived) => {
    if (batches.length === 1) this.#send(batches[0]!, undefined, arrived);
    else
      inOneWrite(this.#session.client, () => {
        for (const batch of batches) this.#send(batch, undefined, arrived);
      });
  });
  readonly #releases = new ReleaseSubscriber(() => this.#session.opened());
  readonly fleet: RedisBoard;
  readonly #feed: DenialFeed;
  /** Were there calls since the last look for followers? */
  #used = false;
  /** Does the cluster refuse keys that are not declared, as some proxies do? Then each slot has its own script call. */
  #declares = false;

  constructor(redis: string | RedisClient | NodeRedisClient | RedisStoreOptions) {
    this.#session = new Session(redis, this.health);
    const { definitions = true, usage } = redis as Partial<RedisStoreOptions>;
    const run: RunKey = (script, key, args) => this.#runKey(script, key, () => ({ keys: [key], args }));
    this.fleet = new RedisBoard(new SessionBoardConnection(this.#session, run), definitions);
    this.usage = StoreUsage.of('redisStore', usage, this.fleet);
    this.#feed = new DenialFeed(this, () => {
      const used = this.#used;
      this.#used = false;
      return used;
    });
    const { own, client } = this.#session;
    this.slotted = own?.isCluster ?? client?.isCluster === true;
    // Keys of one node travel together, unless they must be declared.
    if (this.slotted)
      this.#batches.nodeOf = ({ call, node }) =>
        this.#declares ? '' : (node?.node ?? this.nodeOf(storageKey(call)));
  }

  /** ioredis, where the store makes its own client. */
  get loading(): Promise<unknown> | undefined {
    return this.#session.own?.loading;
  }

  get firstConnectionUntil(): number | undefined {
    return this.#session.firstConnectionUntil;
  }

  nodeOf(key: string): string {
    return this.#session.watch?.nodeOf(key) ?? '';
  }

  decide(call: Call): Promise<Answer> {
    const pending = directCall(call);
    this.send(pending);
    return pending.promise;
  }

  send(call: PendingCall): Departure {
    return this.#batches.add(call);
  }

  expect(deadline?: number): void {
    this.#session.own?.expect(deadline);
  }

  /** @internal Decides calls, in order, in one script call. In a cluster their keys must share a slot. `now` replaces the server's clock. */
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
      throw this.#session.errorOf(error, key);
    }
  }

  async look(part: Pick<Part, 'limit' | 'key'>, of?: 'escalation'): Promise<StoredKey> {
    const key = storageKey(part) + (of === undefined ? '' : ESCALATION_SUFFIX);
    return storedKey(await this.run(lookScript, [key], []));
  }

  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return inTime(
      this.#session,
      this.#runKey(script, keys[0]!, () => ({ keys: [...keys], args })),
    );
  }

  async claim(key: string, ms: number): Promise<boolean> {
    const reply = this.#runKey(claimScript, key, () => ({ keys: [key], args: [String(ms)] }));
    return new Numbers(await inTime(this.#session, reply)).next() === 1;
  }

  async rate(change: RateChange, caller: StoreCaller = {}): Promise<RateAnswer> {
    const { keepAlive, perClient, parameters } = change.rate ?? {};
    const rate = change.rate === undefined ? [] : [keepAlive!, perClient!, ...parameters!];
    const args = ['', change.action, ...rate.map(String)];
    const write = () => (caller.abandoned ? undefined : { keys: [change.key], args });
    this.expect(caller.deadline);
    return rateAnswer(new Numbers(await this.#runKey(sharedRateScript, change.key, write)).rest());
  }

  /** Listens to the events `storeError`, `degraded` and `recovered`; see `StoreEvents`. */
  on<E extends keyof StoreEvents>(event: E, listener: (event: StoreEvents[E]) => void): this {
    this.health.on(event, listener);
    return this;
  }

  /** Removes a listener. */
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
    const runEmpty = (client: RedisClient) =>
      this.#runOn(client, decideScript, () => ({ keys: [], args: ['0', '', '', '0'] }));
    return this.#session.connect(runEmpty);
  }

  async close(): Promise<void> {
    this.health.end();
    this.usage?.close();
    this.fleet.close();
    this.#feed.close();
    this.#releases.close();
    this.#session.close();
  }

  /** @param arrived called when the reply is there, before the calls resolve */
  #send(batch: Batch, now?: number, arrived = () => {}): void {
    const node = batch.node === undefined || this.#declares ? undefined : this.#readyNode(batch.key);
    if (batch.node !== undefined && node === undefined) {
      this.#sendDeclared(batch, bySlot(batch.groups), arrived);
      return;
    }
    this.#used = true;
    const { client } = this.#session;
    const told = STORE_CALL.hasSubscribers ? new StoreCall(this, batch) : undefined;
    const write = (bytes: boolean) => {
      if (batch.hasEnded && !batch.forget()) return undefined;
      batch.markSent();
      told?.sent();
      const call = written(batch.groups, batch.localTime, now, bytes);
      return node === undefined ? call : undeclared(call, client?.options?.keyPrefix ?? '');
    };
    const replied =
      node === undefined ? this.#run(decideScript, batch, write) : this.#runOn(node, decideScript, write);
    replied.then(
      (reply) => {
        arrived();
        told?.ended();
        try {
          const { undecided, refusal } = settle(batch.groups, new Numbers(reply));
          if (refusal !== undefined) this.#declareKeys(refusal);
          // One by one: a key whose slot is moving would hold up the others of its slot.
          const parts = undecided.map((group) => [group]);
          if (parts.length > 0) this.#sendDeclared(batch, parts);
          else batch.end();
        } catch (error) {
          batch.failed(this.#session.errorOf(error, batch.key));
        }
      },
      (error) => {
        arrived();
        const failure = this.#session.errorOf(error, batch.key, !batch.sent);
        told?.ended(failure);
        if (node !== undefined && wasNotRun(error)) {
          if (refusesUndeclared(error)) this.#declareKeys(String((error as Error).message));
          this.#sendDeclared(batch, bySlot(batch.groups));
        } else {
          batch.failed(failure);
        }
      },
    );
  }

  /**
   * Sends each part with declared keys: the client follows a key that has moved. Nothing was written for these calls.
   * @param arrived called when all replies are there
   */
  #sendDeclared(batch: Batch, parts: readonly (readonly KeyGroup[])[], arrived = () => {}): void {
    let underWay = parts.length;
    const oneArrived = () => {
      underWay -= 1;
      if (underWay === 0) arrived();
    };
    for (const one of batch.apart(parts)) this.#send(one, undefined, oneArrived);
  }

  /** Declares keys from now on. */
  #declareKeys(refusal: string): void {
    this.#declares = true;
    warnOfDeclaredKeys(this.#session.address, refusal);
  }

  /** The connection to the node of a key, if it can be used now. */
  #readyNode(key: string): RedisClient | undefined {
    const { client, watch } = this.#session;
    const node = client && watch?.connectionFor(key);
    return node !== undefined && isReady(node) ? node : undefined;
  }

  /**
   * Sends at once if there is a connection: a call that is sent alone then needs no further promise.
   * @param keyed has one of the script's keys
   */
  #run(script: Script, keyed: { readonly key: string }, write: Write): Promise<unknown> {
    const { client, watch } = this.#session;
    const isOpen = client !== undefined && isReady(client) && watch!.misplaced === undefined;
    if (!isOpen || (client.isCluster && !isReady(watch!.connectionFor(keyed.key) ?? client))) {
      return this.#session.connected(keyed.key).then((opened) => this.#runOn(opened, script, write));
    }
    return this.#runOn(client, script, write);
  }

  /** @throws StoreUnavailableError, StoreConfigurationError */
  async #runKey(script: Script, key: string, write: Write): Promise<unknown> {
    try {
      return await this.#run(script, { key }, write);
    } catch (error) {
      throw this.#session.errorOf(error, key);
    }
  }

  #runOn(client: RedisClient, script: Script, write: Write): Promise<unknown> {
    try {
      const reply = runScript(client, script, write);
      if (!this.#session.met) {
        this.#session.meet(client, reply);
        this.#feed.start();
      }
      return reply;
    } catch (error) {
      return Promise.reject(error);
    }
  }
}

import { noRedis } from '#platform';
import { RedisTexts, type RunKeys, type SharedTexts } from '../../board/shared-texts.js';
import { loadFleet, type StoreUsage, type StoreWatching, usageOf } from '../../board/watching.js';
import { type Answer, type Call, type Part, storageKey } from '../../call/call.js';
import type { Departure } from '../../call/deadlines.js';
import { PendingCall, THE_ANSWER } from '../../call/pending-call.js';
import { systemClock } from '../../clock.js';
import { decideScript } from '../../engine/decide.script.js';
import { type StoredKey, storedKey } from '../../engine/entry.js';
import { ESCALATION_SUFFIX } from '../../engine/escalation.js';
import { StoreConfigurationError } from '../../errors.js';
import { StoreHealth } from '../../health/store-health.js';
import { setImmediate } from '../../runtime.js';
import type { StoreEvents } from '../../telemetry/messages.js';
import { claimScript } from '../claim.script.js';
import { lookScript } from '../look.script.js';
import type { RateAnswer, RateChange } from '../shared-rate.js';
import { sharedRateScript } from '../shared-rate.script.js';
import type { Store, StoreCaller, WakingFacet } from '../store.js';
import { Batch } from './batch.js';
import { Batches } from './batches.js';
import type { RedisClient } from './client.js';
import type { NodeRedisClient } from './node-redis.js';
import { RedisBoard } from './redis-board.js';
import type { RedisStoreOptions } from './redis-store-options.js';
import { Numbers, rateAnswer } from './reply.js';
import { Sender } from './sender.js';
import { Session } from './session.js';
import { ReleaseSubscriber } from './subscriber.js';

/**
 * Keeps state in Redis, shared by all processes that use the same server. Takes an address, options (`{ url }`, `{ sentinels, name }`,
 * `{ cluster }`, `{ client }`), or a client of ioredis (5 or 6), iovalkey or node-redis, which you close yourself. Without a client of yours,
 * ioredis must be installed. Connects at the first call.
 * @throws TypeError for anything else, and for unknown options; StoreConfigurationError on an edge runtime
 */
export function redisStore(redis: string | RedisClient | NodeRedisClient | RedisStoreOptions): RedisStore {
  if (noRedis !== undefined) throw new StoreConfigurationError(noRedis);
  return new RedisStore(redis);
}

/**
 * The store that `redisStore` returns. `on` reports outages; `close` ends its own connections after the last answer, and leaves a client of
 * yours open.
 */
export class RedisStore implements Store {
  readonly name = 'redis';
  readonly remote = true;
  readonly slotted: boolean;
  readonly clock = systemClock;
  readonly health: StoreHealth;
  readonly usage: StoreUsage | undefined;
  readonly #session: Session;
  readonly #sender: Sender;
  readonly #batches: Batches;
  readonly #releases: ReleaseSubscriber;
  readonly fleet: RedisBoard;
  #closing: Promise<void> | undefined;
  readonly #run = this.#runner(() => false);
  readonly texts: SharedTexts = new RedisTexts(this.#run, (key, changed) => this.#subscribe(key, changed));
  readonly send: (call: PendingCall) => Departure;
  /** Absent if the client has nothing to subscribe on: then waiting calls poll. */
  readonly listen?: WakingFacet['listen'];

  /** @param maker the function that makes the store, for texts */
  constructor(redis: string | RedisClient | NodeRedisClient | RedisStoreOptions, maker = 'redisStore') {
    this.health = new StoreHealth(
      (node) => this.#session.watch?.error(node),
      () => this.#session.address,
      'redis',
      maker,
    );
    // A server that was out may have lost the texts of this process.
    const restored = () => this.fleet.restored?.();
    this.#session = new Session(redis, this.health, restored);
    this.health.on('recovered', restored); // a node of a cluster
    this.#releases = new ReleaseSubscriber(this.#session);
    this.#sender = new Sender(this, this.#session, () => this.fleet.feed?.start());
    this.#batches = new Batches(this.#sender);
    this.send = this.#batches.add;
    const { definitions = true, usage, denials = false } = redis as Partial<RedisStoreOptions>;
    const run = this.#runner(() => this.fleet.closed);
    this.fleet = new RedisBoard(this.#session, run, definitions);
    this.usage = usageOf(maker, usage, this.fleet);
    if (denials)
      loadFleet<StoreWatching>(`${maker}: denials`).sendDenials(this, () => {
        const { used } = this.#sender;
        this.#sender.used = false;
        return used;
      });
    const { own, client } = this.#session;
    this.slotted = own?.isCluster ?? client?.isCluster === true;
    if (!client?.isConnectionless) this.listen = (key, granted) => this.#subscribe(key, granted);
    // Keys of one node travel together, unless they must be declared.
    if (this.slotted)
      this.#batches.nodeOf = (call) =>
        this.#sender.declares ? '' : (call.node?.node ?? this.nodeOf(storageKey(call)));
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
    const pending = PendingCall.of(call);
    const answer = pending.begin(THE_ANSWER);
    this.send(pending);
    return answer;
  }

  expect(deadline?: number): void {
    this.#session.expect(deadline);
  }

  /** @param isOver whether nobody waits for such calls any more */
  #runner(isOver: () => boolean): RunKeys {
    return (script, keys, args) => {
      const write = () => ({ keys: [...keys], args });
      return this.#session.inTime(this.#sender.runKey(script, keys[0]!, write, isOver));
    };
  }

  /** @internal Decides calls, in order, in one script call. In a cluster their keys must share a slot. `now` replaces the server's clock. */
  decideAll(calls: readonly Call[], now?: number): Promise<Answer[]> {
    const batch = new Batch();
    const answers = calls.map((call) => {
      const pending = PendingCall.of(call);
      batch.add(pending);
      return pending.begin(THE_ANSWER);
    });
    this.#sender.send(batch, undefined, now);
    return Promise.all(answers);
  }

  async #subscribe(key: string, granted: (id: number) => void): Promise<() => void> {
    try {
      return await this.#releases.listen(key, granted);
    } catch (error) {
      throw this.#session.errorOf(error, key);
    }
  }

  async look(part: Pick<Part, 'limit' | 'key'>, of?: 'escalation'): Promise<StoredKey> {
    const key = storageKey(part) + (of === undefined ? '' : ESCALATION_SUFFIX);
    return storedKey(await this.#run(lookScript, [key], []));
  }

  async claim(key: string, ms: number): Promise<boolean> {
    return new Numbers(await this.#run(claimScript, [key], [String(ms)])).next() === 1;
  }

  async rate(change: RateChange, caller: StoreCaller = {}): Promise<RateAnswer> {
    const { keepAlive, perClient, parameters } = change.rate ?? {};
    const rate = change.rate === undefined ? [] : [keepAlive!, perClient!, ...parameters!];
    const args = ['', change.action, ...rate.map(String)];
    const write = () => (caller.abandoned ? undefined : { keys: [change.key], args });
    this.expect(caller.deadline);
    const isOver = () => caller.abandoned === true;
    const reply = await this.#sender.runKey(sharedRateScript, change.key, write, isOver);
    return rateAnswer(new Numbers(reply).rest());
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
      this.#sender.runOn(client, decideScript, () => ({ keys: [], args: ['0', '', '', '0'] }));
    return this.#session.connect(runEmpty);
  }

  /**
   * Refuses new calls, and then ends the connection. Calls of this turn and calls without an answer are answered first: each has its
   * `deadline`, but at most 5 s. Once closed, a store stays closed.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.usage?.close();
    this.fleet.close();
    this.#releases.close();
    // Calls of this turn may still be on their way to the store, and the first ones wait for ioredis.
    await this.loading?.catch(() => {});
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#batches.leave();
    const closed = this.#sender.close();
    this.#releases.wakeAll(); // otherwise they would look after a third of their lease
    await closed;
    this.health.end();
    this.#session.close();
  }
}

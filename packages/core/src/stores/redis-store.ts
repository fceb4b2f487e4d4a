import type { Script } from '../algorithms/algorithm.js';
import { systemClock } from '../clock.js';
import type { Answer, Call } from '../decisions/call.js';
import { decideScript } from '../decisions/decide.script.js';
import { isSluiceError, StoreUnavailableError } from '../errors.js';
import { sharedRateScript } from '../shared-rates/shared-rate.script.js';
import type { RateAnswer, RateChange } from '../shared-rates/stored-rate.js';
import type { NodeRedisClient } from './node-redis.js';
import { isReady, type RedisClient, runScript, whenReady } from './redis-client.js';
import { OwnConnection } from './redis-connection.js';
import { RedisDepartures } from './redis-departures.js';
import { classified, isMistake, NoConnectionError } from './redis-errors.js';
import { placeOf } from './redis-place.js';
import type { RedisStoreOptions } from './redis-store-options.js';
import { RedisWakeUps } from './redis-wake-ups.js';
import { warnOfEviction, warnOfResending } from './redis-warnings.js';
import { type RedisWatch, unwatch, watch } from './redis-watch.js';
import { answers, integers, rateAnswer, written } from './redis-wire.js';
import type { Asked, Store } from './store.js';
import { type StoreEvents, StoreHealth } from './store-health.js';

/**
 * State in Redis, shared by every process that uses the same. Takes an address, a client of ioredis (5 or 6), iovalkey or node-redis that
 * stays yours to close, or options: `{ url }`, `{ sentinels, name }`, `{ cluster }`, `{ client }`. Without a client of yours ioredis must be
 * installed. Connects at the first call, not before.
 * @throws TypeError when it is none of these, or an option is misspelt
 */
export function redisStore(redis: string | RedisClient | NodeRedisClient | RedisStoreOptions): RedisStore {
  return new RedisStore(redis);
}

export class RedisStore implements Store {
  readonly name = 'redis';
  readonly remote = true;
  readonly clock = systemClock;
  readonly health = new StoreHealth((node) => this.#watch?.error(node));
  readonly #own: OwnConnection | undefined;
  #client: RedisClient | undefined;
  #watch: RedisWatch | undefined;
  readonly #departures = new RedisDepartures();
  readonly #wakeUps = new RedisWakeUps(() => this.#connected());
  #met = false;
  #closed = false;

  constructor(redis: string | RedisClient | NodeRedisClient | RedisStoreOptions) {
    const place = placeOf(redis);
    if (place instanceof OwnConnection) {
      this.#own = place;
    } else {
      this.#use(place);
      warnOfResending(place);
    }
  }

  get slotted(): boolean {
    return this.#own?.isCluster ?? this.#client?.isCluster === true;
  }

  /** ioredis, where the store makes its own client. */
  get loading(): Promise<unknown> | undefined {
    return this.#own?.loading;
  }

  nodeOf(key: string): string {
    return this.#watch?.nodeOf(key) ?? '';
  }

  async decide(call: Call, asked: Asked = {}): Promise<Answer> {
    const { keys, args } = written([call], this.clock.now());
    return answers([call], await this.#run(decideScript, keys, args, asked))[0]!;
  }

  /** Decides calls, in order, in one trip. In a cluster their keys must share a slot. `now` takes the place of the server's clock. */
  async decideAll(calls: readonly Call[], asked: Asked = {}, now?: number): Promise<Answer[]> {
    const { keys, args } = written(calls, this.clock.now(), now);
    return answers(calls, await this.#run(decideScript, keys, args, asked));
  }

  async listen(key: string, granted: (id: number) => void): Promise<() => void> {
    try {
      return await this.#wakeUps.listen(key, granted);
    } catch (error) {
      throw isSluiceError(error) ? error : classified(error, this.#watch?.error(this.nodeOf(key)));
    }
  }

  async rate(change: RateChange, asked: Asked = {}): Promise<RateAnswer> {
    const { keepAlive, perClient, parameters } = change.rate ?? {};
    const rate = change.rate === undefined ? [] : [keepAlive!, perClient!, ...parameters!];
    const args = ['', change.action, ...rate.map(String)];
    return rateAnswer(await this.#run(sharedRateScript, [change.key], args, asked));
  }

  /** Listens to what happens to this store: `storeError`, `degraded`, `recovered`; see `StoreEvents`. */
  on<E extends keyof StoreEvents>(event: E, listener: (told: StoreEvents[E]) => void): this {
    this.health.on(event, listener);
    return this;
  }

  /** Listens no more. */
  off<E extends keyof StoreEvents>(event: E, listener: (told: StoreEvents[E]) => void): this {
    this.health.off(event, listener);
    return this;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.health.end();
    this.#wakeUps.close();
    this.#own?.close();
    if (this.#client !== undefined) unwatch(this.#client);
  }

  async #run(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    asked: Asked,
  ): Promise<readonly number[]> {
    this.#own?.expect(asked.deadline);
    const client = this.#open ?? (await this.#connected());
    const watching = this.#watch!;
    const key = keys[0]!;
    let reply: unknown;
    try {
      if (!isReady(client)) await connected(client, watching.error(), asked);
      const node = watching.connectionFor(key);
      if (node !== undefined && !isReady(node)) {
        await connected(node, watching.error(watching.nodeOf(key)), asked);
      }
      reply = await this.#departures.send(client, () => {
        const replied = runScript(client, script, keys, args, () => asked.abandoned === true);
        if (!this.#met) this.#meet(client);
        return replied;
      });
    } catch (error) {
      throw classified(error, watching.error(watching.nodeOf(key)));
    }
    return integers(reply);
  }

  /** What is to be known of a server is asked once, behind the first call. */
  #meet(client: RedisClient): void {
    this.#met = true;
    void warnOfEviction(client);
  }

  get #open(): RedisClient | undefined {
    return this.#closed ? undefined : this.#client;
  }

  async #connected(): Promise<RedisClient> {
    const client = this.#client ?? this.#use(await this.#own!.open());
    if (!this.#closed) return client;
    throw new StoreUnavailableError('redis store: it was closed', { reason: 'closed' });
  }

  #use(client: RedisClient): RedisClient {
    this.#watch ??= watch(client);
    this.#client = client;
    return client;
  }
}

/**
 * For who would wait for a connection. A wrong password stays wrong for longer than a deadline, and must not be taken for an outage when one
 * has passed; only a client that would try for the first time now finds out.
 */
async function connected(client: RedisClient, lastError: Error | undefined, asked: Asked): Promise<void> {
  if (client.status !== 'wait' && isMistake(lastError)) throw lastError;
  await whenReady(client);
  if (asked.abandoned) throw new NoConnectionError('given up before there was a connection');
}

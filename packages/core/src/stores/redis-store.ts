import type { Script } from '../algorithms/algorithm.js';
import { systemClock } from '../clock.js';
import type { Answer, Call } from '../decisions/call.js';
import { decideScript } from '../decisions/decide.script.js';
import { isSluiceError, StoreConfigurationError, StoreUnavailableError } from '../errors.js';
import { describe } from '../options.js';
import { sharedRateScript } from '../shared-rates/shared-rate.script.js';
import type { RateAnswer, RateChange } from '../shared-rates/stored-rate.js';
import { ConnectionError } from './connection-error.js';
import { type RedisClient, recommendedRedisOptions, runScript, whenReady } from './redis-client.js';
import { RedisDepartures } from './redis-departures.js';
import { classified } from './redis-errors.js';
import { RedisWakeUps } from './redis-wake-ups.js';
import { answers, rateAnswer, written } from './redis-wire.js';
import type { Asked, Store } from './store.js';
import { type StoreEvents, StoreHealth } from './store-health.js';

/**
 * State in Redis, shared by every process that uses the same server. Takes an ioredis client (5 or 6, alone or Cluster) that
 * stays yours to close, or a `redis://` or `rediss://` address, for which ioredis must be installed. Connects at the first
 * call, not before.
 * @throws TypeError when it is neither
 */
export function redisStore(client: RedisClient | string): RedisStore {
  return new RedisStore(client);
}

/** What we need of the package. */
type Ioredis = Pick<typeof import('ioredis'), 'Redis'>;

export class RedisStore implements Store {
  readonly name = 'redis';
  readonly remote = true;
  readonly clock = systemClock;
  /** ioredis, for an address. Loading it takes longer than a deadline leaves for a server's answer. */
  readonly loading: Promise<Ioredis> | undefined;
  readonly #url: string | undefined;
  #client: RedisClient | undefined;
  #readying: Promise<void> | undefined;
  readonly #connectionError = new ConnectionError();
  readonly health = new StoreHealth(() => this.#connectionError.last);
  readonly #departures = new RedisDepartures();
  readonly #wakeUps = new RedisWakeUps(() => this.#connected());
  #closed = false;

  constructor(client: RedisClient | string) {
    if (typeof client === 'string') {
      this.#url = checkUrl(client);
      this.loading = loadIoredis();
      this.loading.catch(() => {}); // the first call tells
    } else {
      this.#client = checkClient(client);
      this.#connectionError.watch(client);
    }
  }

  get slotted(): boolean {
    return this.#client?.isCluster === true;
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
      throw isSluiceError(error) ? error : classified(error, this.#connectionError.last);
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
    this.#closed = true;
    this.health.end();
    this.#wakeUps.close();
    if (this.#url !== undefined) (this.#client as OwnClient | undefined)?.disconnect();
    else this.#connectionError.unwatch();
  }

  async #run(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    asked: Asked,
  ): Promise<readonly number[]> {
    const client = this.#open ?? (await this.#connected());
    const connected = client.status === undefined || client.status === 'ready';
    if (!connected) this.#connectionError.tellMistake();
    let reply: unknown;
    try {
      if (!connected) {
        await this.#whenReady(client);
        if (asked.abandoned) throw new Error('given up before there was a connection');
      }
      const abandoned = () => asked.abandoned === true;
      reply = await this.#departures.send(client, () => runScript(client, script, keys, args, abandoned));
    } catch (error) {
      throw classified(error, this.#connectionError.last);
    }
    return integers(reply);
  }

  get #open(): RedisClient | undefined {
    return this.#closed ? undefined : this.#client;
  }

  /** One look-out for all who wait. */
  #whenReady(client: RedisClient): Promise<void> {
    this.#readying ??= whenReady(client).finally(() => {
      this.#readying = undefined;
    });
    return this.#readying;
  }

  async #connected(): Promise<RedisClient> {
    if (this.#client === undefined) {
      const { Redis } = await this.loading!;
      this.#client ??= this.#create(Redis);
    }
    if (this.#closed) throw closed();
    return this.#client;
  }

  #create(Redis: Ioredis['Redis']): RedisClient {
    // ioredis knows the old scheme only.
    const client = new Redis(this.#url!.replace(/^valkey:/, 'redis:').replace(/^valkeys:/, 'rediss:'), {
      ...recommendedRedisOptions,
      lazyConnect: true,
      connectionName: 'sluice',
      // ioredis waits so long for the end of a connection, also for one that has ended before, and keeps the process alive.
      disconnectTimeout: 100,
    });
    this.#connectionError.watch(client as unknown as OwnClient);
    return client as unknown as OwnClient;
  }
}

type OwnClient = RedisClient & { disconnect(): void };

const closed = () => new StoreUnavailableError('redis store: it was closed', { reason: 'closed' });

function loadIoredis(): Promise<Ioredis> {
  return import('ioredis').catch((cause: unknown) => {
    throw new StoreConfigurationError('redisStore(url) needs the package ioredis: npm install ioredis', {
      cause,
    });
  });
}

function integers(reply: unknown): readonly number[] {
  if (!Array.isArray(reply) || !reply.every(isInteger)) {
    throw new StoreConfigurationError(
      `redis store: the script answered ${describe(reply)} where integers were due`,
    );
  }
  return reply.includes(MOST + 1) ? reply.map((n) => Math.min(n, MOST)) : reply;
}

const MOST = Number.MAX_SAFE_INTEGER;
/** Parsers of clients round the largest that there is up. */
const isInteger = (n: unknown): boolean => Number.isInteger(n) && Math.abs(n as number) <= MOST + 1;

function checkUrl(url: string): string {
  if (!/^(?:rediss?|valkeys?):\/\//.test(url) || !URL.canParse(url)) {
    throw new TypeError(
      `redisStore takes an ioredis client or an address such as 'redis://127.0.0.1:6379', not ${describe(url)}`,
    );
  }
  return url;
}

function checkClient(client: RedisClient): RedisClient {
  if (typeof client?.evalsha !== 'function' || typeof client.eval !== 'function') {
    throw new TypeError(
      `redisStore takes an ioredis client or an address such as 'redis://127.0.0.1:6379', not ${describe(client)}`,
    );
  }
  return client;
}

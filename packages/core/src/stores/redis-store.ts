import { systemClock } from '../clock.js';
import { StoreConfigurationError, StoreUnavailableError } from '../errors.js';
import { describe } from '../options.js';
import {
  classified,
  type RedisClient,
  recommendedRedisOptions,
  runScript,
  whenReady,
} from './redis-client.js';
import type { Answer, Asked, Call, Store } from './store.js';

/**
 * State in Redis, shared by every process that uses the same server. Takes an ioredis client (5 or 6, alone or Cluster) that
 * stays yours to close, or a `redis://` or `rediss://` address, for which ioredis must be installed. Connects at the first
 * call, not before.
 * @throws TypeError when it is neither
 */
export function redisStore(client: RedisClient | string): RedisStore {
  return new RedisStore(client);
}

const INTEGERS_PER_CALL = 5;

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
  #lastConnectionError: Error | undefined;
  #closed = false;

  constructor(client: RedisClient | string) {
    if (typeof client === 'string') {
      this.#url = checkUrl(client);
      this.loading = loadIoredis();
      this.loading.catch(() => {}); // the first call tells
    } else {
      this.#client = checkClient(client);
    }
  }

  async decide(call: Call): Promise<Answer> {
    const [answer] = await this.decideAll([call]);
    return answer!;
  }

  /** Decides calls of one algorithm, in order, in one trip. In a cluster their keys must share a slot. */
  async decideAll(calls: readonly Call[], now?: number): Promise<Answer[]> {
    const { algorithm, parameters } = calls[0]!.rule;
    const args = [now === undefined ? '' : String(now), String(parameters.length)];
    for (const { rule, operation, cost, maxWait, at } of calls) {
      args.push(
        operation,
        String(cost),
        String(operation === 'refund' ? at : maxWait),
        ...rule.parameters.map(String),
      );
    }
    const keys = calls.map(({ key }) => key);
    const reply = await this.#attempt(calls, (client) =>
      runScript(client, algorithm.script, keys, args, () =>
        calls.every(({ abandoned }) => abandoned === true),
      ),
    );
    return answers(reply, calls.length);
  }

  async reset(key: string, asked: Asked = {}): Promise<void> {
    await this.#attempt([asked], (client) => client.del(key));
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#url !== undefined) (this.#client as OwnClient | undefined)?.disconnect();
  }

  async #attempt<T>(calls: readonly Asked[], work: (client: RedisClient) => Promise<T>): Promise<T> {
    if (this.#closed) throw closed();
    const client = this.#client ?? (await this.#open());
    try {
      if (client.status !== undefined && client.status !== 'ready') {
        await this.#whenReady(client);
        if (calls.some(({ abandoned }) => abandoned))
          throw new Error('given up before there was a connection');
      }
      return await work(client);
    } catch (error) {
      throw classified(error, this.#lastConnectionError);
    }
  }

  /** One look-out for all who wait. */
  #whenReady(client: RedisClient): Promise<void> {
    this.#readying ??= whenReady(client).finally(() => {
      this.#readying = undefined;
    });
    return this.#readying;
  }

  async #open(): Promise<RedisClient> {
    const { Redis } = await this.loading!;
    if (this.#closed) throw closed();
    this.#client ??= this.#create(Redis);
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
    client.on('error', (error) => {
      this.#lastConnectionError = error;
    });
    client.on('ready', () => {
      this.#lastConnectionError = undefined;
    });
    return client as unknown as OwnClient;
  }
}

type OwnClient = RedisClient & { disconnect(): void };

const closed = () => new StoreUnavailableError('redis store: it was closed');

function loadIoredis(): Promise<Ioredis> {
  return import('ioredis').catch((cause: unknown) => {
    throw new StoreConfigurationError('redisStore(url) needs the package ioredis: npm install ioredis', {
      cause,
    });
  });
}

function answers(reply: unknown, calls: number): Answer[] {
  if (
    !Array.isArray(reply) ||
    reply.length !== calls * INTEGERS_PER_CALL ||
    !reply.every(Number.isSafeInteger)
  ) {
    throw new StoreConfigurationError(
      `redis store: the script answered ${describe(reply)} where integers were due`,
    );
  }
  const numbers = reply as number[];
  return Array.from({ length: calls }, (_, call) => {
    const [allowed, remaining, wait, reset, now] = numbers.slice(call * INTEGERS_PER_CALL) as [
      number,
      number,
      number,
      number,
      number,
    ];
    return { allowed: allowed === 1, remaining, wait, reset, now };
  });
}

function checkUrl(url: string): string {
  if (!/^(?:rediss?|valkeys?):\/\//.test(url) || !URL.canParse(url)) {
    throw new TypeError(
      `redisStore takes an ioredis client or an address such as 'redis://127.0.0.1:6379', not ${describe(url)}`,
    );
  }
  return url;
}

function checkClient(client: RedisClient): RedisClient {
  if (
    typeof client?.evalsha !== 'function' ||
    typeof client.eval !== 'function' ||
    typeof client.del !== 'function'
  ) {
    throw new TypeError(
      `redisStore takes an ioredis client or an address such as 'redis://127.0.0.1:6379', not ${describe(client)}`,
    );
  }
  return client;
}

import type { Redis } from 'ioredis';
import { fixedWindow, RateLimiter, type Store } from '../../packages/core/src/index.js';
import { type RedisServer, startRedis } from '../support/redis/redis-server.js';
import { TcpProxy } from '../support/redis/tcp-proxy.js';
import { type ClientOptions, testClient } from '../support/redis/test-client.js';
import { uniqueName } from '../support/redis-url.js';
import { rethrow } from '../support/rethrow.js';

export { rejection } from '../support/rejection.js';

export const LIMIT = 1_000;

/** For tests that harm Redis: each has its own server, and everything that it opens here is closed with it. */
export class OwnRedis {
  #server: RedisServer | undefined;
  #opened: { close(): unknown }[] = [];

  constructor() {
    beforeEach(async () => {
      this.#server = await startRedis();
    });
    afterEach(async () => {
      for (const thing of this.#opened.splice(0).reverse()) await thing.close();
      await this.server.stop();
    });
  }

  get server(): RedisServer {
    return this.#server!;
  }

  open<T extends { close(): unknown }>(thing: T): T {
    this.#opened.push(thing);
    return thing;
  }

  client(url = this.server.url, options: ClientOptions = {}): Redis {
    const client = testClient(url, options);
    this.open({ close: () => client.disconnect() });
    return client;
  }

  async proxy(): Promise<TcpProxy> {
    return this.open(await TcpProxy.start(this.server.url));
  }

  /** A limiter that rejects when the store is out. */
  limiter(store: Store, deadline = '100ms'): RateLimiter {
    const policy = fixedWindow({ limit: LIMIT, window: '1h' });
    const name = uniqueName('fault');
    return new RateLimiter({ name, policy, store: this.open(store), deadline, failurePolicy: rethrow });
  }
}

/** Retries until it resolves. */
export async function eventually<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 400) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

/**
 * The permits that the server has counted for key `k`, once it is back. A client sends queued calls first, in order, on the same connection:
 * the second reply arrives after theirs.
 */
export async function counted(limiter: RateLimiter): Promise<number> {
  await eventually(() => limiter.peek('k'));
  return LIMIT - (await eventually(() => limiter.peek('k'))).remaining;
}

import { Redis, type RedisOptions } from 'ioredis';

/** Options without those that change the type of replies. */
export type ClientOptions = Omit<RedisOptions, 'replyMapping'>;

/**
 * A client for a server that may go away during the test. It ignores connection errors, and `disconnect` leaves no timer: by default
 * ioredis sets one of 2 s, which it does not clear after a lost connection, and which keeps Jest from ending.
 */
export function testClient(url: string, options: ClientOptions = {}): Redis {
  const client = new Redis(url, { disconnectTimeout: 0, ...options });
  client.on('error', () => undefined);
  return client;
}

import { Redis, type RedisOptions } from 'ioredis';

/** Without those on which the type of the replies would depend. */
export type ClientOptions = Omit<RedisOptions, 'replyMapping'>;

/**
 * A client for a server that may go away during the test. Its connection errors are expected, and `disconnect` leaves
 * nothing behind: by default ioredis sets a timer of 2 s then, which it never clears when the connection was lost before,
 * and which keeps Jest from ending.
 */
export function testClient(url: string, options: ClientOptions = {}): Redis {
  const client = new Redis(url, { disconnectTimeout: 0, ...options });
  client.on('error', () => undefined);
  return client;
}

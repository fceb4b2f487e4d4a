import { type RedisServer, startRedis } from './redis-server.ts';
import { testClient } from './test-client.ts';

const KEYS = 2_000;

/**
 * Starts a Redis that takes time to load what it has saved: after `restart('loading')` it answers `-LOADING` for about this many
 * milliseconds.
 */
export async function startSlowLoading(ms: number): Promise<RedisServer> {
  const micros = String(Math.ceil((ms * 1_000) / KEYS));
  const server = await startRedis({
    args: [
      ...['--key-load-delay', micros, '--rdbcompression', 'no'],
      // It looks after its clients each time that it has read so much.
      ...['--loading-process-events-interval-bytes', '1024'],
    ],
  });
  const client = testClient(server.url);
  try {
    const fill = `for i = 1, ${KEYS} do redis.call('SET', 'filler:' .. i, string.rep('x', 100)) end`;
    await client.eval(fill, 0);
    await client.save();
  } finally {
    client.disconnect();
  }
  return server;
}

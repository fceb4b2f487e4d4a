import { type RedisServer, startRedis } from './redis-server.ts';
import { testClient } from './test-client.ts';

export interface SlowLoadingRedis extends RedisServer {
  /** Lets it load the rest at once. */
  hurry(): Promise<void>;
}

const KEYS = 2_000;
/** Time of one key, µs: a minute for all of them, which is longer than any test looks. */
const KEY_DELAY = 30_000;

/** Starts a Redis that loads what it has saved until it may hurry: after `restart('loading')` it answers `-LOADING` until then. */
export async function startSlowLoading(): Promise<SlowLoadingRedis> {
  const server = await startRedis({
    args: [
      ...['--key-load-delay', String(KEY_DELAY), '--rdbcompression', 'no'],
      // It looks after its clients each time that it has read so much: about one key.
      ...['--loading-process-events-interval-bytes', '1024'],
    ],
  });
  const client = testClient(server.url);
  try {
    const fill = `for i = 1, ${KEYS} do redis.call('SET', 'filler:' .. i, string.rep('x', 1000)) end`;
    await client.eval(fill, 0);
    await client.save();
  } finally {
    client.disconnect();
  }
  const hurry = async () => {
    const admin = testClient(server.url, { enableReadyCheck: false });
    await admin.config('SET', 'key-load-delay', '0');
    admin.disconnect();
  };
  // The server's own getters stay: its pid changes.
  return Object.assign(Object.create(server) as RedisServer, { hurry });
}

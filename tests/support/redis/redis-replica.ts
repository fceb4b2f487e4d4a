import { localRedisBinary } from './redis-binary.ts';
import { type RedisServer, startRedis } from './redis-server.ts';
import { testClient } from './test-client.ts';

const READY_MS = 20_000;

/**
 * Starts a replica of another Redis, and returns when it has the data.
 * @param master port of the other Redis, or of a proxy before it that delays replication
 * @param options.args more of redis-server's arguments
 * @param options.password password of both
 */
export async function startReplica(
  master: number,
  options: { args?: readonly string[]; password?: string } = {},
): Promise<RedisServer> {
  await localRedisBinary('A replica of the tests');
  const { args = [], password } = options;
  const login = password === undefined ? [] : ['--requirepass', password, '--masterauth', password];
  const replica = await startRedis({
    args: ['--replicaof', '127.0.0.1', String(master), ...login, ...args],
  });
  try {
    await linked(replica.url, master, password);
    return replica;
  } catch (error) {
    await replica.stop();
    throw error;
  }
}

async function linked(url: string, master: number, password?: string): Promise<void> {
  const client = testClient(url, {
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
    ...(password !== undefined && { password }),
  });
  const deadline = Date.now() + READY_MS;
  try {
    for (;;) {
      const info = await client.info('replication');
      if (/master_link_status:up/.test(info)) return;
      if (Date.now() > deadline)
        throw new Error(`A replica did not reach its master on port ${master}:\n${info}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    client.disconnect();
  }
}
